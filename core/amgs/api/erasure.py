"""`memory.erasure`: blocks taken out of the memory so that nothing of their text is left in it."""

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
    """Erasure in one open memory. It cannot be undone: `plan` says beforehand what it takes."""

    def plan(self, ids: Sequence[str]) -> ErasurePlan:
        """Return what erasing blocks would take; changes nothing."""
        return erasing.plan(self._storage, self._whole(ids), self._size())

    def erase(self, ids: Sequence[str], progress: Progress | None = None) -> ErasureReceipt:
        """Erase blocks so that their texts are nowhere in the store: not in its tables, its journal or its logs, nor in
        an index or a freed page of its file. It cannot be undone.

        Writes the whole file and the keyword index anew, which takes as much room beside them for that time. Blocks
        that were merged from these or split from them stay, and the receipt names them. Raises StoreError where the
        disk is full: the tables are without them then, and the file is written anew when the memory is closed.
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
        """Write anew the files that still hold bytes of what was erased; False where a reader of another thread did not
        let go of them.
        """
        self._context.derived.rewrite()
        return self._storage.erasure.compact()

    @property
    def unfinished(self) -> bool:
        """Return whether files still hold bytes of erased content; they are rewritten on closing and on opening."""
        return self._storage.erasure.unfinished

    def _whole(self, ids: Sequence[str]) -> list[str]:
        return [self._context.whole_id(prefix) for prefix in ids]

    def _size(self) -> int:
        file = self._storage.file
        return 0 if file is None else file.stat().st_size

    def scan_secrets(self) -> SecretScan:
        """Return what secrets stand in the store; changes nothing."""
        return masking.scan(self._storage)[0]

    def mask_secrets(self) -> SecretScan:
        """Mask every secret of the store, as one operation that only `restore_secrets` takes back. They are kept in a
        file beside the store that nobody but its owner reads. Raises StoreError where that cannot be written.
        """
        context = self._context
        with context.storage.transaction():
            context.searches.write(context.settings.retrieval.searches, most=None)
        done = masking.apply(context.storage, context.clock.now())
        if done.operation is not None:
            self.finish()
        return done

    def restore_secrets(self, operation: int) -> JournalEntry:
        """Put back the secrets that an operation masked, and take the file away in which they lay."""
        entry = masking.restore(self._storage, operation)
        self.finish()
        self.forget_secrets(operation)
        return entry

    def forget_secrets(self, operation: int) -> None:
        """Delete the file of what an operation masked: nothing brings the secrets back then."""
        masking.originals_of(self._storage, operation).unlink(missing_ok=True)
