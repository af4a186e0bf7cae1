"""Is the store sound? Every block re-hashed, every reference followed (`amgs verify`)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from amgs.identity import block_id
from amgs.storage.duckdb import block_columns, reinforcement_log
from amgs.storage.duckdb import blocks as stored_blocks
from amgs.storage.duckdb import edges as stored_edges
from amgs.storage.duckdb import journal as stored_journal
from amgs.storage.duckdb import meta as stored_meta
from amgs.storage.duckdb.connection import Store
from amgs.types import STATUSES, Fault, Progress, Vector

_NORM_TOLERANCE = 1e-3
_MOST = 100


def faults(store: Store, progress: Progress | None = None) -> list[Fault]:
    """What is wrong with the tables, at most a hundred of each kind; empty when all is well."""
    found: list[Fault] = []
    for check in (_blocks(store, progress), _metadata(store), _edges(store), _logs(store)):
        for i, fault in enumerate(check):
            if i == _MOST:
                found.append(
                    Fault(fault.where.split(" ")[0], f"more than {_MOST} faults; the rest is left out")
                )
                break
            found.append(fault)
    return found


def _blocks(store: Store, progress: Progress | None) -> Iterator[Fault]:
    """Ids against contents, embeddings against the recorded dimension and length 1."""
    space = stored_meta.embedding_space(store)
    total, done = sum(stored_blocks.by_status(store).values()), 0
    for batch in block_columns.contents(store):
        for block, content, embedding in batch:
            if block_id(content) != block:
                yield Fault(f"block {block[:12]}", "its content does not hash to its id")
            if embedding is not None:
                yield from _embedding(block, embedding, space)
        done += len(batch)
        if progress is not None:
            progress(done, total, "verifying")


def _embedding(block: str, embedding: Vector, space: tuple[str, int] | None) -> Iterator[Fault]:
    if space is not None and embedding.size != space[1]:
        yield Fault(f"block {block[:12]}", f"its embedding has {embedding.size} values, not {space[1]}")
    length = float(np.linalg.norm(embedding))
    if not math.isclose(length, 1.0, abs_tol=_NORM_TOLERANCE):
        yield Fault(f"block {block[:12]}", f"its embedding has length {length:.3f}, not 1")


def _metadata(store: Store) -> Iterator[Fault]:
    for number in block_columns.repeated(store):
        yield Fault(f"number {number}", "several blocks have it")
    for block, what in block_columns.out_of_range(store, STATUSES):
        yield Fault(f"block {block[:12]}", what)
    newest, counter = block_columns.newest_revision(store), store.change_counter
    if newest > counter:
        yield Fault("change counter", f"it stands at {counter}, a block was changed at {newest}")


def _edges(store: Store) -> Iterator[Fault]:
    for (source, target, relation), what in stored_edges.dangling(store):
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", what)
    for source, target, relation in stored_edges.repeated(store):
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", "it is there more than once")
    for (source, target, relation), what in stored_edges.out_of_range(store):
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", what)


def _logs(store: Store) -> Iterator[Fault]:
    for number in stored_journal.unowned(store):
        yield Fault(f"journal {number}", "rows name an operation that does not exist")
    for number, kept, told in stored_journal.incomplete(store):
        yield Fault(f"journal {number}", f"it has {kept} rows where it tells of {told}")
    for block in reinforcement_log.miscounted(store):
        yield Fault(f"block {block[:12]}", "its count of reinforcements is not that of the log")
