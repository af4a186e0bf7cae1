"""`memory.erasure`: remove blocks so that nothing of their text remains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amgs.api import health
from amgs.api.context import MemoryPart
from amgs.lifecycle import erase as erasing
from amgs.lifecycle import secrets as masking
from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt
from amgs.lifecycle.secrets import SecretScan
from amgs.types import JournalEntry, Progress


class Erasure(MemoryPart):
    """Erasure in an open memory. It cannot be undone; `plan` previews it."""

    def plan(self, ids: Sequence[str]) -> ErasurePlan:
        """Return what erasing blocks would remove; changes nothing."""
        return erasing.plan(self._storage, self._whole(ids), self._size())

    def erase(self, ids: Sequence[str], progress: Progress | None = None) -> ErasureReceipt:
        """Erase blocks so that their texts are nowhere in the store: tables, journal, logs, indexes, freed pages of its
        file. It cannot be undone.

        Rewrites the file and the keyword index, which needs as much additional space meanwhile. Blocks merged or split
        from these stay; the receipt names them. Raises StoreError if the disk is full: then the tables no longer
        contain them, and the file is rewritten when the memory is closed.
        """
        context, storage = self._context, self._storage
        before, sizes = self._size(), context.derived.sizes()
        with storage.transaction():
            planned = self.plan(ids)
            context.searches.write(context.settings.retrieval.searches, most=None)
            entry, rows = erasing.erase_blocks(storage, planned, context.clock.now())
        gone = tuple(block.id for block in planned.blocks)
        struck = 0 if storage.file is None else erasing.remove_ledger_lines(Path(f"{storage.file}.deleted.jsonl"), gone)
        compacted = self.finish()
        now = context.derived.sizes()
        return ErasureReceipt(
            ids=gone,
            at=entry.at,
            operation=entry,
            related=planned.related,
            sources=planned.sources,
            rows=rows | ({"ledger": struck} if struck else {}),
            indexes={name: (sizes[name], now[name]) for name in now},
            compacted=compacted,
            bytes=(before, self._size()),
            verification=health.verify(context, progress),
        )

    def finish(self) -> bool:
        """Rewrite files that still contain erased content; return False if another thread did not stop reading them."""
        self._context.derived.rewrite()
        return self._storage.erasure.compact()

    @property
    def unfinished(self) -> bool:
        """Return whether files still contain erased content; they are rewritten on closing and opening."""
        return self._storage.erasure.unfinished

    def _whole(self, ids: Sequence[str]) -> list[str]:
        return [self._context.whole_id(prefix) for prefix in ids]

    def _size(self) -> int:
        file = self._storage.file
        return 0 if file is None else file.stat().st_size

    def scan_secrets(self) -> SecretScan:
        """Return the secrets in the store; changes nothing."""
        return masking.scan(self._storage)[0]

    def mask_secrets(self) -> SecretScan:
        """Mask every secret in the store, as one operation that only `restore_secrets` reverts.

        They are stored in a file beside the store that only its owner can read. Raises StoreError if it cannot be
        written.
        """
        context = self._context
        with context.storage.transaction():
            context.searches.write(context.settings.retrieval.searches, most=None)
        done = masking.apply(context.storage, context.clock.now())
        if done.operation is not None:
            self.finish()
        return done

    def restore_secrets(self, operation: int) -> JournalEntry:
        """Restore the secrets that an operation masked, and delete their file."""
        entry = masking.restore(self._storage, operation)
        self.finish()
        self.forget_secrets(operation)
        return entry

    def forget_secrets(self, operation: int) -> None:
        """Delete the file with the secrets that an operation masked; they cannot be restored then."""
        masking.originals_of(self._storage, operation).unlink(missing_ok=True)
