"""Timeline of a runtime's moves, in branches: every move can be undone, repeated, or left beside another.

A branch is the list of its moves from the beginning; branches share those before they part. Undoing takes
back tokens from the lifetime, repeating appends them again: both end in the very state that was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from amgs_focus.errors import FocusError
from amgs_focus.records import BLANK, BranchView, SpanAbout, SpanSource, StepRecord
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.tree.gist_tree import LifetimeTree

MAIN = "main"


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """Tokens of the lifetime and where they came from."""

    tokens: tuple[int, ...]
    span: SpanSource
    about: SpanAbout = BLANK


@dataclass(slots=True, eq=False)
class Move:
    """One thing that changed the state: a decoded token (which has a record), text that came, a refocus, the
    operator's override or a setting, and the state it led to. pieces: what it appended, kept from when it was
    first undone.
    """

    after: FocusState
    record: StepRecord | None = None
    pieces: tuple[TimelineSpan, ...] | None = None


@dataclass(slots=True)
class _Line:
    """One branch. at: the step at which it left its parent."""

    name: str
    parent: str = ""
    at: int = 0
    moves: list[Move] = field(default_factory=list)


class Timeline:
    """The branches over one lifetime, and how much of the present one is in force."""

    def __init__(self, tree: LifetimeTree, reader: PrefixReader, start: FocusState) -> None:
        self._tree = tree
        self._reader = reader
        self._start = start
        self._lines = {MAIN: _Line(MAIN)}
        self._line = self._lines[MAIN]
        self._place = 0

    @property
    def name(self) -> str:
        """Name of the current branch."""
        return self._line.name

    @property
    def steps(self) -> int:
        """Tokens decoded that are in force."""
        return self.state.step

    @property
    def steps_known(self) -> int:
        """Tokens decoded on this branch, those stepped back over included."""
        return self._line.moves[-1].after.step if self._line.moves else self._start.step

    def ahead(self) -> Move | None:
        """Return the move that was undone last."""
        return self._line.moves[self._place] if self._place < len(self._line.moves) else None

    def add(self, move: Move) -> BranchView | None:
        """Take in a move that was just made. Where others were made from here before, it begins a branch,
        which is returned, and they stay on the old one.
        """
        forked = self.fork() if self.ahead() is not None else None
        self._line.moves.append(move)
        self._place += 1
        return forked

    def forward(self) -> Move:
        """Repeat the move that was undone last."""
        move = self._line.moves[self._place]
        for piece in move.pieces or ():
            span = piece.span
            self._tree.append(piece.tokens, source=span.source, kind=span.kind, label=span.label, about=piece.about)
        self._place += 1
        return move

    def back(self) -> Move:
        """Undo the last move that is in force."""
        self._place -= 1
        move = self._line.moves[self._place]
        start, end = self.state.context.lifetime, move.after.context.lifetime
        if move.pieces is None:
            move.pieces = tuple(
                TimelineSpan(
                    tuple(int(token) for token in self._tree.tokens(span.start, span.end)),
                    span,
                    self._tree.catalogue.about(span.start),
                )
                for span in self._tree.sources(start, end)
            )
        if start < self._tree.length:
            self._reader.forget(self._tree, start)
            self._tree.truncate(start)
        return move

    def back_steps(self, n: int) -> None:
        """Undo the last n decoded tokens and all that came between. Raises FocusError when there are fewer."""
        known = self.steps - self._start.step
        if not 0 < n <= known:
            raise FocusError(
                f"{known} steps can be undone, not {n}.",
                title="Nothing further back",
                way_out=f"Step back by 1 to {known}." if known else "Decode first.",
            )
        while n:
            n -= self.back().record is not None

    def fork(self, name: str | None = None) -> BranchView:
        """Begin a branch here and go on it; the present one keeps all its moves. Raises FocusError for a
        name that is taken.
        """
        chosen = self._free_name() if name is None else name
        if chosen in self._lines or not chosen.strip():
            raise FocusError(
                f"There is already a branch {chosen!r}." if chosen.strip() else "A branch needs a name.",
                title="The branch cannot be created",
                way_out="Choose another name.",
            )
        line = _Line(chosen, self._line.name, self.steps, self._line.moves[: self._place])
        self._lines[chosen] = self._line = line
        return self._view(line)

    def seek(self, step: int) -> None:
        """Go to where so many tokens were decoded, on this branch, forwards or back.

        Raises FocusError when the branch has no such step.
        """
        if not self._start.step <= step <= self.steps_known:
            raise FocusError(
                f"The branch {self.name!r} has steps {self._start.step} to {self.steps_known}, not {step}.",
                title="There is no such step",
                way_out="Choose one of them.",
            )
        while self.steps > step:
            self.back()
        while self.steps < step:
            self.forward()

    def switch(self, name: str) -> int:
        """Go to the end of a branch; the step up to which both are the same. Raises FocusError for an unknown
        name.
        """
        if name not in self._lines:
            raise FocusError(
                f"There is no branch {name!r}.", title="No such branch", way_out=f"Available: {', '.join(self._lines)}."
            )
        target = self._lines[name]
        common = _common(self._line.moves[: self._place], target.moves)
        while self._place > common:
            self.back()
        shared = self.steps
        self._line = target
        while self._place < len(target.moves):
            self.forward()
        return shared

    @property
    def state(self) -> FocusState:
        """Return the state after the last move in force."""
        return self._line.moves[self._place - 1].after if self._place else self._start

    def views(self) -> tuple[BranchView, ...]:
        """Return all branches, in the order in which they were begun."""
        return tuple(self._view(line) for line in self._lines.values())

    def _free_name(self) -> str:
        number = len(self._lines)
        while f"branch-{number}" in self._lines:
            number += 1
        return f"branch-{number}"

    def _view(self, line: _Line) -> BranchView:
        steps = [move.record for move in line.moves if move.record is not None]
        return BranchView(
            name=line.name,
            parent=line.parent,
            at=line.at,
            steps=self._start.step + len(steps),
            active=line is self._line,
            text="".join(record.text for record in steps[max(0, line.at - self._start.step) :]),
            state_hash=steps[-1].state_hash if steps else "",
        )


def _common(ours: Sequence[Move], theirs: Sequence[Move]) -> int:
    """Return how many moves two branches share."""
    pairs = zip(ours, theirs, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a is not b), min(len(ours), len(theirs)))
