"""Completion of the command line from what the screen has seen so far; it never waits for the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs_app.panes.row_fields import listed
from amgs_tui.host import Completion

if TYPE_CHECKING:
    from amgs.types import Block, FrameDefinition, JournalEntry
    from amgs_app.calls.registry import Registry

MOST_BLOCKS = 5_000


class CompletionCache:
    """Blocks, frames and operations from results; replaces the memory in completion."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        self.listed: tuple[str, ...] = ()
        self._blocks: dict[str, Block] = {}
        self._frames: tuple[FrameDefinition, ...] = ()
        self._operations: tuple[JournalEntry, ...] = ()
        self._entities: dict[str, None] = {}

    def learn(self, result: Any, *, listed: bool) -> None:
        """Store the blocks, entities, frames and operations of a result; listed: @1, @2, … refer to its blocks from now
        on, if there are several.
        """
        inner = getattr(result, "result", result)
        blocks = [*_blocks_of(inner)]
        for block in blocks:
            self._blocks[block.id] = block
            if block.id not in self.titles:
                self.titles[block.id] = block.title
        while len(self._blocks) > MOST_BLOCKS:
            oldest = next(iter(self._blocks))
            del self._blocks[oldest], self.titles[oldest]
        if listed and len(blocks) > 1:
            self.listed = tuple(block.id for block in blocks)
        for entity in (*getattr(inner, "entities", ()), *getattr(inner, "related", ())):
            self._entities |= dict.fromkeys((entity.name, *getattr(entity, "aliases", ())))
        self._frames = getattr(inner, "definitions", self._frames)
        self._operations = _journal_of(inner) or self._operations

    def find(self, text: str, limit: int) -> list[Block]:
        """Return blocks whose title contains the text or whose id begins with it."""
        wanted = text.lower()
        return [
            block for block in self._blocks.values() if block.id.startswith(wanted) or wanted in block.title.lower()
        ][:limit]

    def block(self, block_id: str) -> Block:
        return self._blocks[block_id]

    def entity_names(self, start: str, limit: int) -> list[str]:
        """Return names of entities with this prefix, ignoring case."""
        return [name for name in self._entities if name.casefold().startswith(start.casefold())][:limit]

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        return self._frames

    def operations(self, limit: int) -> tuple[JournalEntry, ...]:
        return self._operations[:limit]


def _blocks_of(result: Any) -> list[Block]:
    """Return the blocks in a result in order, without records of another memory."""
    from amgs.types import Block

    values: list[Any] = [getattr(result, name, None) for name in ("block", "center")]
    for name in ("blocks", "candidates", "hits", "rows", "items", "mentions"):
        several = getattr(result, name, None)
        if name == "candidates" and several is not None and hasattr(result, "spans"):
            several = listed(result)  # a frame's rows are numbered as its table has them
        if isinstance(several, tuple):
            values += [getattr(row, "block", row) for row in several]
    return [block for block in values if isinstance(block, Block)]


def _journal_of(result: Any) -> tuple[JournalEntry, ...]:
    """Return the journal entries in a result, without those of other programs."""
    from amgs.types import JournalEntry

    several = getattr(result, "operations", None)
    listed = several if isinstance(several, tuple) else ()
    return tuple(entry for entry in listed if isinstance(entry, JournalEntry))


def complete(registry: Registry | None, line: str, known: CompletionCache) -> list[Completion]:
    """Return completions of a line; none before the operations are loaded."""
    if registry is None:
        return []
    from amgs_app.calls import completion

    suggestions = completion.complete(registry, line, known, known.listed)
    return [
        Completion(suggestion.label or suggestion.text, line[: len(line) - suggestion.replaces] + suggestion.text)
        for suggestion in suggestions
    ]


def explain(registry: Registry | None, line: str) -> str:
    """Return the usage of the command in a line."""
    if registry is None:
        return "The commands are still loading."
    from amgs_app.terminal.line import LineError, split

    try:
        words = split(line)
    except LineError as error:
        return error.message
    chosen, _ = registry.find(words)
    if chosen is not None:
        return f"{chosen.usage()}   {chosen.summary}"
    return "" if words else "Type a command; tab completes, ↑ recalls earlier commands, esc cancels."
