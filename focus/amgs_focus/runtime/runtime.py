"""The loop: ingest and summarise, assemble, refocus, decode. Each step gives a record and can be undone.

MegaContext, "Runtime lifecycle". The runtime owns a lifetime, its working context and the base model's cache. Its state
between two steps is one immutable value, so stepping back restores an earlier value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import torch

from amgs_focus.errors import FocusError, WindowBudgetError
from amgs_focus.gist import GistEncoder, find_gist_encoder
from amgs_focus.lens.question_search import QuestionScorer, QuestionSearch
from amgs_focus.lens.scoring import FocusScorer, TailSimilarity
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import (
    Action,
    BranchView,
    Findings,
    Measurement,
    NodeRef,
    Override,
    Refocus,
    Segment,
    StepRecord,
    TokenSpan,
    tail_start,
)
from amgs_focus.runtime import view
from amgs_focus.runtime.prefix import FocusState, PrefixReader
from amgs_focus.runtime.timeline import Move, Timeline, decode_token, refocus
from amgs_focus.runtime.utility import measure
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.events import TraceSink
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.retention import require_in_reach
from amgs_focus.tree.span_metadata import Act
from amgs_focus.views import EntryExplanation, FocusView
from amgs_focus.window.allocator import make_room
from amgs_focus.window.candidates import lay_out
from amgs_focus.window.working_context import WorkingContext

KEYFRAMES = 64  # steps between two keyframes of the trace


class FocusRuntime:
    """A lifetime read by a frozen model. Use it from one thread at a time; `snapshot` returns values safe to share."""

    def __init__(
        self,
        model: BaseModel,
        gist: GistEncoder | None = None,
        scorer: FocusScorer | None = None,
        settings: FocusSettings | None = None,
        trace: TraceSink | None = None,
        *,
        clock: PerfClock,
        tree: LifetimeTree | None = None,
        generator: torch.Generator | None = None,
        search: QuestionSearch | None = None,
    ) -> None:
        """Start with an empty lifetime, or with that of `tree` and its encoder.

        gist: defaults to the encoder shipped for the model, else to the pointer gist. scorer: defaults to the
        similarity baseline. search: finds the blocks that a question is about. Raises WindowBudgetError when the window
        cannot hold the tree's lifetime.
        """
        self._model = model
        self._scorer = scorer or TailSimilarity()
        self._search = search
        if search is not None:
            self._scorer = QuestionScorer(self._scorer, search.options)
        settings = settings or FocusSettings()
        self._trace = trace
        self._clock = clock
        if tree is None:
            tree = LifetimeTree(model, gist or find_gist_encoder(model), block_size=settings.block_size)
        self._tree = tree
        if self._tree.block_size != settings.block_size:
            raise FocusError(f"The lifetime has blocks of {self._tree.block_size}, not {settings.block_size}.")
        positions = model.card.positions
        if positions and settings.window > positions:
            raise WindowBudgetError(
                f"{model.card.name} has {positions} positions, and the window is {settings.window}.",
                title="The window is too large",
                way_out=f"Set the window to {positions} or less, or choose another model.",
            )
        require_in_reach(tree, tail_start(tree.length, tree.block_size, settings.tail_blocks))
        self._reader = PrefixReader(model, clock)
        self._generator = generator or torch.Generator().manual_seed(settings.seed)
        self._measured: dict[NodeRef, Measurement] = {}
        initial = FocusState(lay_out(self._tree, settings), settings, random=self._random_state(settings))
        self._state = replace(initial, sealed=tree.catalogue.sealed)
        self._timeline = Timeline(self._tree, self._reader, self._state)

    @property
    def settings(self) -> FocusSettings:
        """Present settings, with the operator's changes."""
        return self._state.settings

    @property
    def tree(self) -> LifetimeTree:
        return self._tree

    @property
    def model(self) -> BaseModel:
        return self._model

    @property
    def scorer(self) -> FocusScorer:
        return self._scorer

    @property
    def search(self) -> QuestionSearch | None:
        return self._search

    @property
    def reader(self) -> PrefixReader:
        return self._reader

    @property
    def clock(self) -> PerfClock:
        return self._clock

    @property
    def state(self) -> FocusState:
        return self._state

    @property
    def context(self) -> WorkingContext:
        return self._state.context

    @property
    def measurements(self) -> Mapping[NodeRef, Measurement]:
        """Latest counterfactual of every measured node."""
        return self._measured

    @property
    def steps_known(self) -> int:
        """Steps decoded on this branch, undone ones included."""
        return self._timeline.steps_known

    @property
    def branch_name(self) -> str:
        return self._timeline.name

    def ingest(self, segments: Iterable[Segment], progress: ProgressCallback | None = None) -> FocusView:
        """Append segments to the lifetime and update the working context.

        Raises WindowBudgetError when the window cannot hold them, and whatever `progress` raises to cancel; the
        lifetime is then unchanged.
        """
        appended = tuple(segments)
        self._text_came(appended, "", progress)
        if self._trace is not None:
            self._trace.record_segments(appended, self.state_hash())
            self._trace.record_keyframe(self._state.keyframe(self._tree.digest()))
        return self.snapshot()

    def question(self, text: str, progress: ProgressCallback | None = None) -> FocusView:
        """Append a question as the model's user turn; the next step begins with a refocus on it.

        Raises WindowBudgetError like `ingest`.
        """
        turn = self._model.turn(text)
        if self._state.answering:  # no blank line between the user's mark and the question
            turn = turn.lstrip("\n")
        self._text_came((Segment(turn, kind="question"),), text, progress)
        if self._trace is not None:
            self._trace.record_question(text, self.state_hash())
            self._trace.record_keyframe(self._state.keyframe(self._tree.digest()))
        return self.snapshot()

    def refocus(self) -> Refocus:
        """Refocus now, whether or not it is due."""
        state, record = self._refocus_state(self._state, forced=True)
        self._take(Move(state))
        if self._trace is not None:
            self._trace.record_refocus(record)
        return record

    def step(self, progress: ProgressCallback | None = None) -> StepRecord:
        """Refocus if due, then decode a token. A step that was undone is repeated exactly.

        Raises FocusError when the answer has ended or the model fails, and whatever `progress` raises to cancel;
        nothing has then changed.
        """
        if self._state.finished:
            raise FocusError("The answer is finished.", title="Nothing to decode", way_out="Ask again, or step back.")
        ahead = self._timeline.ahead()
        if ahead is not None and ahead.record is not None:
            record = ahead.record
            self._timeline.forward()
            self._restore()
        else:
            record, after = self._decode(progress)
            self._take(Move(after, record))
        if self._trace is not None:
            self._trace.record_step(record)
            if record.step % KEYFRAMES == 0:
                self._trace.record_keyframe(self._state.keyframe(self._tree.digest()))
        return record

    def decode(
        self, n: int, progress: ProgressCallback | None = None, on_record: Callable[[StepRecord], None] | None = None
    ) -> tuple[StepRecord, ...]:
        """Run up to n steps, fewer if the answer ends. Raising from `progress` stops between two tokens."""
        records: list[StepRecord] = []
        for done in range(n):
            if self._state.finished:
                break
            if progress is not None:
                progress(done, n, "decoding")
            record = self.step(progress)
            records.append(record)
            if on_record is not None:
                on_record(record)
        return tuple(records)

    def back(self, n: int = 1) -> FocusView:
        """Undo the last n decoded tokens, and everything between them, exactly.

        Raises FocusError when fewer were decoded.
        """
        self._timeline.back_steps(n)
        self._restore()
        if self._trace is not None:
            self._trace.record_step_back(n, self.state_hash())
        return self.snapshot()

    def branch(self, name: str | None = None, *, at: int | None = None) -> FocusView:
        """Begin a branch at a step of the present branch (None: the present step) and continue on it.

        A change after stepping back begins a branch by itself. Raises FocusError for a name that is taken or an unknown
        step.
        """
        current = self._state.step
        try:
            self._timeline.seek(current if at is None else at)
            fork = self._timeline.fork(name)
        except BaseException:
            self._timeline.seek(current)
            raise
        self._restore()
        if self._trace is not None:
            self._trace.record_branch(fork, True, self.state_hash())
        return self.snapshot()

    def branches(self) -> tuple[BranchView, ...]:
        """Return all branches of this run, oldest first."""
        return self._timeline.views()

    def switch(self, name: str) -> FocusView:
        """Go to the end of a branch. Raises FocusError for an unknown name."""
        shared = self._timeline.switch(name)
        self._restore(shared)
        if self._trace is not None:
            self._trace.record_switch(name, self.state_hash())
        return self.snapshot()

    def override(self, node: NodeRef, override: Override | None) -> FocusView:
        """Override what happens to a node from the next refocus on; None removes the override."""
        overrides = {
            ref: other_override for ref, other_override in self._state.allocator.overrides.items() if ref != node
        }
        if override is not None:
            overrides[node] = override
        allocator = replace(self._state.allocator, overrides=overrides)
        self._take(Move(replace(self._state, allocator=allocator)))
        if self._trace is not None:
            self._trace.overridden(node, override)
        return self.snapshot()

    def configure(self, key: str, value: str) -> FocusView:
        """Change a setting from now on.

        Raises SettingError when it cannot be changed, WindowBudgetError for a window that is too small; nothing has
        then changed.
        """
        settings = self._state.settings.with_setting(key, value)
        state = replace(self._state, settings=settings)
        context = replace(state.context, window=settings.window)
        if context.free < 0:
            allocator = replace(state.allocator, headroom=0)
            context = make_room(context, state.scores, self._tree, settings, allocator).context
        self._take(Move(replace(state, context=context, random=self._random_state(settings))))
        if self._trace is not None:
            self._trace.record_setting(key, value, self.state_hash())
        return self.snapshot()

    def act(self, act: Act) -> FocusView:
        """Forget, restore or purge the detail below some gists, and remove what is hidden from the window.

        Stepping back undoes a forgetting or a restoration; no step before a purge can be undone. Raises FocusError for
        an act that changes nothing.
        """
        self._tree.act(act)
        self._take(Move(self._state.without(self._tree.catalogue.sealed)))
        if act.kind == "purge":
            self._timeline = Timeline(self._tree, self._reader, self._state)
        if self._trace is not None:
            self._trace.record_act(act, self.state_hash())
        return self.snapshot()

    def measure(self, entry: int | NodeRef, kind: Action | None = None) -> Measurement:
        """Return the counterfactual ΔNLL of expanding, or else collapsing, an entry over the lifetime's last H tokens.

        Raises FocusError when neither is possible or nothing follows the entry.
        """
        place = self.place(entry)
        measurement = measure(self._state.context, self._tree, place, self.settings.horizon, self._clock, kind)
        measurement = replace(measurement, step=self._state.step)
        self._measured[self._state.context.entries()[place].node] = measurement
        self._tree.catalogue.usage.record_gain(measurement.node, measurement.gain)
        if self._trace is not None:
            self._trace.record_measurement(measurement)
        return measurement

    def why(self, entry: int | NodeRef) -> EntryExplanation:
        """Return everything behind an entry, given by its position or its node.

        Raises FocusError when it is not in the working context.
        """
        state, place = self._state, self.place(entry)
        every = self._reader.every(state.settings.full_read_every)
        prices = self._reader.prices(state.reads, state.context, self._tree, every)
        return view.explain(self._state, self._tree, self._measured, prices, place)

    def tokens(self, start: int, end: int) -> TokenSpan:
        """Return the lifetime's tokens [start, end), clipped to its length, with their texts."""
        return view.tokens(self._tree, start, end)

    def snapshot(self) -> FocusView:
        """Return everything that a screen draws, as one frozen value."""
        return view.snapshot(
            self._state, self._tree, self._measured, self.branches(), scorer=self._scorer.name, head=self.steps_known
        )

    def place(self, entry: int | NodeRef) -> int:
        """Return the position of an entry in the working context. Raises FocusError if it is not there."""
        entries = self._state.context.entries()
        place = entry if isinstance(entry, int) else self._state.context.position(entry)
        if place is None or not 0 <= place < len(entries):
            raise FocusError(
                f"{entry} is not an entry of the working context.",
                title="No such entry",
                way_out=f"Entries are numbered 0 to {len(entries) - 1}." if entries else "Open a text first.",
            )
        return place

    def state_hash(self) -> str:
        """Return 16 hex digits of everything that decides the next step: tokens, entries, cooldowns, step."""
        return self._state.digest(self._tree.digest())

    def close(self) -> None:
        """Close the lifetime's files, if it has any."""
        self._tree.close()

    def _due(self) -> bool:
        return self._state.fresh or self._state.since >= self.settings.cadence

    def _grow_context(self, findings: Findings | None, turn: int) -> WorkingContext:
        """Return the context after new text: extended, or laid out anew for the first text or a large amount.

        After a search that found blocks it is also laid out anew, to leave room for them: only the latest text, from
        token `turn` on and at most a quarter of the window, gets detail.
        """
        state, settings = self._state, self.settings
        known = state.context.lifetime
        if findings is not None and findings.blocks:
            since = max(turn, self._tree.length - settings.window // 4)
            return lay_out(self._tree, settings, state.allocator.overrides, since)
        if known == 0 or self._tree.length - known > settings.window:
            return lay_out(self._tree, settings, state.allocator.overrides)
        allocator = replace(state.allocator, headroom=0)
        grown = state.context.extend_lifetime(self._tree.length)
        return make_room(grown, state.scores, self._tree, settings, allocator).context

    def _text_came(self, segments: Sequence[Segment], question: str, progress: ProgressCallback | None) -> None:
        """Append text and begin a new answer; if that fails, the lifetime is unchanged.

        After an answer the model's turn is closed first, so that no text becomes part of it. question: "" for other
        text.
        """
        before, state, findings = self._tree.length, self._state, None
        turns = [span.start for span in self._tree.spans() if span.kind == "question"] if state.answering else []
        try:
            if state.answering:
                ended = bool(state.answer) and state.answer[-1] in self._model.stops
                self._tree.append_segment(Segment(self._model.reopen(ended=ended), kind="question"))
            for number, segment in enumerate(segments):
                if progress is not None and not question:
                    progress(number, len(segments), "reading in")
                self._tree.append_segment(segment, progress)
            if self._search is not None:
                self._search.sync(self._tree, progress)
                findings = self._search.find(self._tree, question, before) if question else None
            context = self._grow_context(findings, max(turns, default=before))
        except BaseException:
            self._tree.truncate(before)
            raise
        number = state.allocator.refocus
        residency = {entry.node: state.residency.get(entry.node, number) for entry in context.entries()}
        after = replace(
            state,
            context=context,
            fresh=True,
            residency=residency,
            question=question,
            question_share=None,
            findings=findings,
            question_tokens=tuple(self._model.encode(question)),
            answer=(),
            answering=bool(question),
            finished=False,
            reads=state.reads.end(),
        )
        self._take(Move(after))

    def _take(self, move: Move) -> None:
        """Record a completed move and make its state the present one; after stepping back it begins a branch."""
        forked = self._timeline.add(move)
        self._state = move.after
        if forked is not None and self._trace is not None:
            self._trace.record_branch(forked, False, "")

    def _refocus_state(self, state: FocusState, *, forced: bool) -> tuple[FocusState, Refocus]:
        after, record = refocus(
            state, self._tree, self._scorer, state.settings, self._reader, self._clock, forced=forced
        )
        self._tree.catalogue.usage.record_refocus(record, after.context.standing(), state.settings.tau_expand)
        return after, record

    def _decode(self, progress: ProgressCallback | None) -> tuple[StepRecord, FocusState]:
        """Refocus if due and decode a token, which is appended to the lifetime; return the record and the new state."""
        began = self._clock.perf()
        state, refocused = self._state, None
        if self._due():
            state, refocused = self._refocus_state(state, forced=False)
        record, after = decode_token(state, self._tree, self._reader, self._generator, progress)
        after = replace(after, random=self._random_state(self.settings))
        record = replace(
            record,
            milliseconds=(self._clock.perf() - began) * 1000,
            state_hash=after.digest(self._tree.digest()),
            refocus=refocused,
        )
        return record, after

    def _random_state(self, settings: FocusSettings) -> torch.Tensor | None:
        return self._generator.get_state() if settings.temperature > 0 else None

    def _restore(self, shared: int | None = None) -> None:
        """Restore the timeline's present state. shared: step up to which measurements stay valid; None for the present
        step.
        """
        self._state = state = self._timeline.state
        self._tree.seal(state.sealed)
        if state.random is not None:
            self._generator.set_state(state.random)
        known = state.step if shared is None else shared
        self._measured = {
            node: measurement for node, measurement in self._measured.items() if measurement.step <= known
        }
