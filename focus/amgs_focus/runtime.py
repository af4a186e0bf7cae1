"""The loop: ingest and summarise, assemble, refocus, decode. One record a step, and every step can be undone.

MegaContext, "Runtime lifecycle". The runtime owns one lifetime, its working context and the base model's
cache. All its state between two steps is one immutable value, so that stepping back is taking the value of
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import torch

from amgs_focus import view
from amgs_focus.allocator import make_room
from amgs_focus.base_model import BaseModel
from amgs_focus.errors import BudgetError, FocusError
from amgs_focus.focus_state import FocusState, Taken
from amgs_focus.gist_tree import LifetimeTree, Progress, Segment
from amgs_focus.gistnet import GistEncoder, for_model
from amgs_focus.prefix import PerfClock, PrefixReader
from amgs_focus.records import (
    Action,
    EntryExplanation,
    FocusView,
    Measurement,
    NodeRef,
    Override,
    Refocus,
    StepRecord,
)
from amgs_focus.refocusing import refocus
from amgs_focus.scoring import FocusScorer
from amgs_focus.settings import FocusSettings
from amgs_focus.tail_similarity import TailSimilarity
from amgs_focus.utility import measure
from amgs_focus.working_context import WorkingContext, assemble


class TraceSink(Protocol):
    """Told everything that happens, in order; `trace.TraceWriter` is one."""

    def ingested(self, segments: Sequence[Segment], state_hash: str) -> None: ...

    def asked(self, question: str, state_hash: str) -> None: ...

    def refocused(self, refocus: Refocus) -> None: ...

    def stepped(self, record: StepRecord) -> None: ...

    def stepped_back(self, steps: int, state_hash: str) -> None: ...

    def overridden(self, node: NodeRef, word: Override | None) -> None: ...

    def measured(self, measurement: Measurement) -> None: ...


class FocusRuntime:
    """One lifetime under one frozen model. Not for two threads at once; `snapshot` gives values that are."""

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
    ) -> None:
        """An empty lifetime, or the given tree's with the encoder that it has.

        The gist defaults to the encoder shipped for the model, or else to the pointer gist; the scorer to the
        similarity baseline. Raises BudgetError when the window cannot hold what the tree holds already.
        """
        self._model = model
        self._scorer = scorer or TailSimilarity()
        self._settings = settings = settings or FocusSettings()
        self._trace = trace
        self._clock = clock
        if tree is None:
            tree = LifetimeTree(model, gist or for_model(model.card), block_size=settings.block_size)
        self._tree = tree
        if self._tree.block_size != settings.block_size:
            raise FocusError(
                f"The lifetime has blocks of {self._tree.block_size}, not {settings.block_size}."
            )
        self._reader = PrefixReader(model, clock)
        self._generator = generator or torch.Generator().manual_seed(settings.seed)
        self._past: list[Taken] = []
        self._ahead: list[Taken] = []
        self._measured: dict[NodeRef, Measurement] = {}
        self._state = FocusState(self._assembled(), random=self._random_state())

    @property
    def settings(self) -> FocusSettings:
        return self._settings

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
    def reader(self) -> PrefixReader:
        return self._reader

    @property
    def state(self) -> FocusState:
        return self._state

    @property
    def context(self) -> WorkingContext:
        return self._state.context

    @property
    def measurements(self) -> Mapping[NodeRef, Measurement]:
        """The latest counterfactual of each node that was measured."""
        return self._measured

    @property
    def steps_known(self) -> int:
        """Steps decoded, those stepped back over included while they still hold."""
        return self._state.step + len(self._ahead)

    def ingest(self, segments: Iterable[Segment], progress: Progress | None = None) -> FocusView:
        """Append segments to the lifetime and lay the working context out anew.

        Raises BudgetError when the window cannot hold it, and whatever `progress` raises to cancel; the
        lifetime is then as it was.
        """
        taken = tuple(segments)
        before = self._tree.length
        try:
            for number, segment in enumerate(taken):
                if progress is not None:
                    progress(number, len(taken), "reading in")
                self._tree.append_segment(segment, progress)
            context = self._grown()
        except BaseException:
            self._tree.truncate(before)
            raise
        self._text_came(context, question="")
        if self._trace is not None:
            self._trace.ingested(taken, self.state_hash())
        return self.snapshot()

    def question(self, text: str, progress: Progress | None = None) -> FocusView:
        """Append a question as the model expects a user's turn; the next step refocuses on it first.

        Raises BudgetError like `ingest`.
        """
        before = self._tree.length
        try:
            self._tree.append_segment(Segment(self._model.turn(text), kind="question"), progress)
            context = self._grown()
        except BaseException:
            self._tree.truncate(before)
            raise
        self._text_came(context, question=text)
        if self._trace is not None:
            self._trace.asked(text, self.state_hash())
        return self.snapshot()

    def refocus(self) -> Refocus:
        """Score and allocate now, whether or not it is due."""
        record = self._refocus(forced=True)
        self._ahead.clear()
        if self._trace is not None:
            self._trace.refocused(record)
        return record

    def step(self, progress: Progress | None = None) -> StepRecord:
        """Refocus when it is due, then decode one token. A step that was taken back is repeated as it was.

        Raises FocusError when the answer has ended or the model fails, and whatever `progress` raises to
        cancel; nothing has then changed.
        """
        if self._state.finished:
            raise FocusError(
                "The answer has ended.", title="Nothing to decode", way_out="Ask again, or step back."
            )
        before = self._state
        if self._ahead:
            taken = self._ahead.pop()
            self._tree.append([taken.record.token], kind="generated")
            self._restore(taken.after)
        else:
            try:
                record, after = self._decode(progress)
            except BaseException:
                self._state = before
                raise
            taken = Taken(before, record, after)
            self._state = after
        self._past.append(taken)
        if self._trace is not None:
            self._trace.stepped(taken.record)
        return taken.record

    def decode(
        self,
        n: int,
        progress: Progress | None = None,
        on_record: Callable[[StepRecord], None] | None = None,
    ) -> tuple[StepRecord, ...]:
        """Up to n steps, fewer when the answer ends. Raising from `progress` stops between two tokens."""
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
        """Undo the last n decoded tokens, and all that came between, exactly.

        Raises FocusError when fewer were decoded.
        """
        if not 0 < n <= len(self._past):
            raise FocusError(
                f"{len(self._past)} steps can be undone, not {n}.",
                title="There is nothing further back",
                way_out=f"Step back by 1 to {len(self._past)}." if self._past else "Decode first.",
            )
        for _ in range(n):
            self._undo(self._past.pop())
        self._measured = {
            node: found for node, found in self._measured.items() if found.step <= self._state.step
        }
        if self._trace is not None:
            self._trace.stepped_back(n, self.state_hash())
        return self.snapshot()

    def override(self, node: NodeRef, word: Override | None) -> FocusView:
        """The operator's word on a node, heard at the next refocus; None takes it back."""
        overrides = {ref: said for ref, said in self._state.allocator.overrides.items() if ref != node}
        if word is not None:
            overrides[node] = word
        allocator = replace(self._state.allocator, overrides=overrides)
        self._state = replace(self._state, allocator=allocator)
        self._ahead.clear()
        if self._trace is not None:
            self._trace.overridden(node, word)
        return self.snapshot()

    def measure(self, entry: int | NodeRef, kind: Action | None = None) -> Measurement:
        """Counterfactual ΔNLL of expanding, or else collapsing, an entry over the lifetime's last H tokens.

        Raises FocusError when neither is possible or nothing follows the entry.
        """
        place = self.place(entry)
        found = measure(self._state.context, self._tree, place, self._settings.horizon, self._clock, kind)
        found = replace(found, step=self._state.step)
        self._measured[self._state.context.entries()[place].node] = found
        if self._trace is not None:
            self._trace.measured(found)
        return found

    def why(self, entry: int | NodeRef) -> EntryExplanation:
        """Everything behind one entry, named by its place or its node.

        Raises FocusError when it is not in the working context.
        """
        return view.explain(self, self.place(entry))

    def snapshot(self) -> FocusView:
        """All that a screen draws, as one frozen value."""
        return view.snapshot(self)

    def place(self, entry: int | NodeRef) -> int:
        """The place of an entry in the working context. Raises FocusError when there is none such."""
        entries = self._state.context.entries()
        place = entry if isinstance(entry, int) else self._state.context.position(entry)
        if place is None or not 0 <= place < len(entries):
            raise FocusError(
                f"{entry} is not an entry of the working context.",
                title="No such entry",
                way_out=f"Entries are numbered 0 to {len(entries) - 1}."
                if entries
                else "Read a text in first.",
            )
        return place

    def state_hash(self) -> str:
        """16 hex digits of everything that decides what comes next: tokens, entries, cooldowns, step."""
        return self._state.digest(self._tree.digest())

    def close(self) -> None:
        """Give back the lifetime's files, where it has any."""
        self._tree.close()

    def _due(self) -> bool:
        return self._state.fresh or self._state.since >= self._settings.cadence

    def _grown(self) -> WorkingContext:
        """The layout after text came in: anew when it is the first or much of it, else the old one made to
        fit.
        """
        state, settings = self._state, self._settings
        known = state.context.lifetime
        if known == 0 or self._tree.length - known > settings.window:
            return self._assembled()
        allocator = replace(state.allocator, headroom=0)
        grown = state.context.extended(self._tree.length)
        return make_room(grown, state.scores, self._tree, settings, allocator).context

    def _assembled(self) -> WorkingContext:
        settings = self._settings
        return assemble(
            self._tree,
            settings.window,
            settings.tail_blocks,
            headroom=settings.cadence,
            focus_share=settings.focus_share,
        )

    def _text_came(self, context: WorkingContext, *, question: str) -> None:
        """Begin a new answer. Steps before it can still be undone, together with the text."""
        self._ahead.clear()
        state = self._state
        number = state.allocator.refocus
        residency = {entry.node: state.residency.get(entry.node, number) for entry in context.entries()}
        self._state = replace(
            state,
            context=context,
            fresh=True,
            residency=residency,
            question=question,
            question_tokens=tuple(self._model.encode(question)),
            answer=(),
            finished=False,
        )

    def _refocus(self, *, forced: bool) -> Refocus:
        state, record = refocus(
            self._state, self._tree, self._scorer, self._settings, self._reader, self._clock, forced=forced
        )
        self._state = state
        return record

    def _decode(self, progress: Progress | None) -> tuple[StepRecord, FocusState]:
        """Refocus if due, then one token. The lifetime has grown by it; the state after is only returned."""
        began = self._clock.perf()
        refocused = self._refocus(forced=False) if self._due() else None
        state = self._state
        if state.context.free < 1:
            state = replace(state, context=self._room_for_one(state))
        reading = self._reader.read(state.context, self._tree, progress)
        token, nll = self._choose(reading.logits)
        context = state.context.extended(self._tree.length + 1)
        context.check()
        self._tree.append([token], kind="generated")
        answer = (*state.answer, token)
        ended = bool(state.question) and len(answer) >= self._settings.answer_tokens
        after = replace(
            state,
            context=context,
            step=state.step + 1,
            since=state.since + 1,
            answer=answer,
            finished=token in self._model.stops or ended,
            random=self._random_state(),
        )
        record = StepRecord(
            step=after.step,
            token=token,
            text="" if token in self._model.stops else self._model.decode([token]),
            nll=nll,
            finished=after.finished,
            lifetime=self._tree.length,
            used=context.used,
            window=context.window,
            dirty=reading.dirty,
            milliseconds=(self._clock.perf() - began) * 1000,
            state_hash=after.digest(self._tree.digest()),
            refocus=refocused,
        )
        return record, after

    def _room_for_one(self, state: FocusState) -> WorkingContext:
        """Room for one token, where the cadence is longer than the window could promise."""
        allocator = replace(state.allocator, headroom=1)
        context = make_room(state.context, state.scores, self._tree, self._settings, allocator).context
        if context.free < 1:
            raise BudgetError(
                f"{context.window} positions are full and nothing more can be collapsed.",
                way_out="Use a larger window, or a shorter tail.",
            )
        return context

    def _choose(self, logits: torch.Tensor) -> tuple[int, float]:
        """The next token and its NLL in nats under the model itself, whatever the temperature."""
        log_probabilities = torch.log_softmax(logits.double(), dim=-1)
        if self._settings.temperature == 0:
            token = int(logits.argmax())
        else:
            weights = torch.softmax(logits.double() / self._settings.temperature, dim=-1)
            token = int(torch.multinomial(weights, 1, generator=self._generator))
        return token, -float(log_probabilities[token])

    def _random_state(self) -> torch.Tensor | None:
        return self._generator.get_state() if self._settings.temperature > 0 else None

    def _undo(self, taken: Taken) -> None:
        """Take back one token, and whatever came after it; only a token by itself can be repeated."""
        if self._state is taken.after:
            self._ahead.append(taken)
        else:
            self._ahead.clear()
        length = taken.before.context.lifetime
        self._reader.forget(self._tree, length)
        self._tree.truncate(length)
        self._restore(taken.before)

    def _restore(self, state: FocusState) -> None:
        self._state = state
        if state.random is not None:
            self._generator.set_state(state.random)
