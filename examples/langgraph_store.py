"""A LangGraph `BaseStore` over a memory: `create_react_agent(…, store=AmgsStore(memory))`.

Copy this file into your program; it needs `langgraph>=1.2`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import Block, BlockFilter, IngestReport, SearchResult, Status

_SPACE: Final = "langgraph_namespace"
_KEY: Final = "langgraph_key"
_VALUE: Final = "langgraph_value"
_CREATED: Final = "langgraph_created"


# Items that can be replaced and removed are kept as blocks, which cannot: removing archives the block.

LIVE: Final[tuple[Status, ...]] = ("raw", "consolidated")
_EVER: Final[tuple[Status, ...]] = (*LIVE, "archived", "pruned")
_NUMBER: Final = "item_number"


class ItemMemory(Protocol):
    """What items need of a memory; `Memory` has it."""

    def ingest_many(self, drafts: Iterable[RawBlock]) -> IngestReport: ...

    def blocks(self, filter: BlockFilter) -> tuple[Block, ...]: ...

    def search(self, query: str, *, top_k: int, filter: BlockFilter | None) -> SearchResult: ...

    def set_metadata(self, id: str, *, status: Status | None = None) -> Block: ...


class ItemBlocks:
    """The items that share some metadata: those of one store, or of one session. name: of no other items."""

    def __init__(self, memory: ItemMemory, name: str, common: Mapping[str, str]) -> None:
        self._memory = memory
        self._name = name
        self._common = dict(common)
        self.lock = threading.RLock()
        """Held by whoever reads an item to replace it."""

    def live(self, **meta: str) -> list[Block]:
        """The items that hold, in the order in which they came."""
        return self._select(LIVE, meta)

    def add(self, items: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        """Keep items, each a readable text and its metadata, in one transaction."""
        with self.lock:
            number = max((int(block.meta[_NUMBER]) for block in self._select(_EVER, {})), default=0)
            # The number makes each text one of its own: equal texts are one block, and a removed one stays removed.
            self._memory.ingest_many(
                RawBlock(f"{text}\n\n[{self._name} {n}]", meta={**self._common, **meta, _NUMBER: str(n)})
                for n, (text, meta) in enumerate(items, number + 1)
            )

    def remove(self, blocks: Iterable[Block]) -> None:
        """Archive items."""
        for block in blocks:
            self._memory.set_metadata(block.id, status="archived")

    def found(self, query: str, most: int, fits: Callable[[Block], bool]) -> list[tuple[Block, float]]:
        """The items that fit and answer a query best, with their scores; at most so many."""
        wanted = BlockFilter(statuses=LIVE, meta=self._common)
        top_k = max(len(self.live()), 1)
        hits = self._memory.search(query, top_k=top_k, filter=wanted).hits if query.strip() else ()
        return [(hit.block, hit.score) for hit in hits if fits(hit.block)][:most]

    def _select(self, statuses: tuple[Status, ...], meta: Mapping[str, Any]) -> list[Block]:
        found = self._memory.blocks(BlockFilter(statuses=statuses, meta={**self._common, **meta}))
        return sorted(found, key=lambda block: int(block.meta[_NUMBER]))


class AmgsStore(BaseStore):
    """A store whose items are blocks of a memory, so that its searches and frames find them too.

    A put of a key that is there archives the block before it; so does a delete. `search` with a query ranks as the
    memory does. An item is found by its words at once, by its meaning after `consolidate`. There is no time to live,
    and `index` cannot be chosen: every value is searchable whole.
    """

    __slots__ = ("_items",)

    def __init__(self, memory: ItemMemory) -> None:
        self._items = ItemBlocks(memory, "langgraph item", {"kind": "langgraph item"})

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry operations out one after the other; raises UsageError for what the store does not support."""
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in another thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._items.live(**_named(op.namespace, op.key))
            return _item(found[-1]) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise UsageError(f"Unknown operation: {type(op).__name__}.", way_out="Give get, search, put or list.")

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None:
            raise UsageError("Items have no time to live here.", way_out="Delete the item, or let it decay.")
        if op.index is not None:
            raise UsageError("Every value is indexed whole.", way_out="Leave the argument index out.")
        with self._items.lock:
            before = self._items.live(**_named(op.namespace, op.key))
            if op.value is not None:
                value = json.dumps(dict(op.value), ensure_ascii=False)
                meta = {**_named(op.namespace, op.key), _VALUE: value}
                if before:
                    meta[_CREATED] = before[-1].meta.get(_CREATED) or before[-1].created_at.isoformat()
                self._items.add([(f"{'/'.join(op.namespace)} {op.key}\n\n{_told(op.value)}", meta)])
            self._items.remove(before)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        def fits(block: Block) -> bool:
            inside = _space(block)[: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
            return inside and _matches(json.loads(block.meta[_VALUE]), op.filter or {})

        scored: list[tuple[Block, float | None]]
        if op.query:
            scored = [*self._items.found(op.query, op.offset + op.limit, fits)]
        else:
            scored = [(block, None) for block in reversed(self._items.live()) if fits(block)]
        return [_search_item(block, score) for block, score in scored[op.offset : op.offset + op.limit]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {_space(block) for block in self._items.live()}
        kept = [space for space in every if all(_lies(space, each) for each in op.match_conditions or ())]
        found = sorted({space[: op.max_depth] for space in kept})
        return found[op.offset : op.offset + op.limit]


def _named(namespace: tuple[str, ...], key: str) -> dict[str, str]:
    return {_SPACE: json.dumps(list(namespace), ensure_ascii=False), _KEY: key}


def _space(block: Block) -> tuple[str, ...]:
    return tuple(json.loads(block.meta[_SPACE]))


def _told(value: Any) -> str:
    """A value as words: what is searched."""
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_told(each)}" for key, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _facts(block: Block) -> dict[str, Any]:
    created = block.meta.get(_CREATED)
    return {
        "value": json.loads(block.meta[_VALUE]),
        "key": block.meta[_KEY],
        "namespace": _space(block),
        "created_at": datetime.fromisoformat(created) if created else block.created_at,
        "updated_at": block.created_at,
    }


def _item(block: Block) -> Item:
    return Item(**_facts(block))


def _search_item(block: Block, score: float | None) -> SearchItem:
    return SearchItem(**_facts(block), score=score)


def _lies(space: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends so; `*` stands for any one part."""
    path = tuple(condition.path)
    if len(space) < len(path):
        return False
    part = space[: len(path)] if condition.match_type == "prefix" else space[len(space) - len(path) :]
    return all(wanted in ("*", given) for wanted, given in zip(path, part, strict=True))


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: float(a) > float(b),
    "$gte": lambda a, b: float(a) >= float(b),
    "$lt": lambda a, b: float(a) < float(b),
    "$lte": lambda a, b: float(a) <= float(b),
}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value is as the filter says: equal, or in the relation that `{"$gt": 3}` names."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    operators = [key for key in wanted if key.startswith("$")]
    unknown = [key for key in operators if key not in _COMPARE]
    if unknown:
        raise UsageError(f"Unknown operator: {unknown[0]}.", way_out=f"Use one of {', '.join(_COMPARE)}.")
    if operators:
        ordered = not isinstance(value, (int, float)) and any(key not in ("$eq", "$ne") for key in operators)
        return not ordered and all(_COMPARE[key](value, wanted[key]) for key in operators)
    return isinstance(value, Mapping) and all(_matches(value.get(key), each) for key, each in wanted.items())
