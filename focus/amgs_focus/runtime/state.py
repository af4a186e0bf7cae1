"""Everything the runtime holds between two steps, as one immutable value; stepping back is taking an older one.

Part of it is which contexts the base model read since its last full read: what the keys and values it holds depend on.
After a change, reading in full computes everything from the first changed position on. Reusing computes only the
positions that are new and keeps all others, turned to where they stand now, although they never saw what changed
before them. Keys and values then depend on how they came about: the keys and values of
a history are those of its first context read in full, and of each later one the ones of the context before for every
position that stood there, computed after everything before it for every other. The same history gives the same
logits, whatever a cache happens to hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch

from amgs_focus.records import Band, Findings, Keyframe, NodeRef, Refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.node_set import NOTHING, NodeSet
from amgs_focus.window.candidates import AllocatorState
from amgs_focus.window.working_context import WorkingContext, common


@dataclass(frozen=True)
class ReadHistory:
    """contexts: as they were last read, oldest first; the first was read in full. generation: of the lifetime's gists
    when they were. closed: the next change is read in full, whatever the setting.
    """

    contexts: tuple[WorkingContext, ...] = ()
    generation: int = 0
    closed: bool = False

    @property
    def last(self) -> WorkingContext | None:
        """Return the last context read."""
        return self.contexts[-1] if self.contexts else None

    @cached_property
    def exact(self) -> int:
        """Leading positions of the last context that are as a full read would have them."""
        if not self.contexts:
            return 0
        codes = [context.codes() for context in self.contexts]
        changes = [common(old, new) for old, new in pairwise(codes)]
        return min([len(codes[-1]), *changes])

    def ended(self) -> ReadHistory:
        """Return the same, with a full read next: for text that came in."""
        return replace(self, closed=True)

    def after(self, context: WorkingContext, generation: int, every: int) -> ReadHistory:
        """Return the history once this context is read. every: reads after a change, of which the last is in full."""
        last = self.last
        if last is None or generation != self.generation or self.closed:
            return ReadHistory((context,), generation)
        old, new = last.codes(), context.codes()
        if common(old, new) == len(old):
            return replace(self, contexts=(*self.contexts[:-1], context))
        # the last position is read in any case, as it says what comes next; it is new where tokens came
        if len(self.contexts) < every and context.lifetime > last.lifetime:
            return replace(self, contexts=(*self.contexts, context))
        return ReadHistory((context,), generation)

    def reuses(self, context: WorkingContext, generation: int, every: int) -> bool:
        """Return whether the context, were it changed by now, would be read by reusing what was read before."""
        grown = self.last is not None and context.lifetime > self.last.lifetime
        return grown and not self.closed and generation == self.generation and len(self.contexts) < every

    def clean(self, context: WorkingContext, generation: int) -> int:
        """Leading positions that a full read of the context would not compute."""
        if self.last is None or generation != self.generation:
            return 0
        return min(common(self.last.codes(), context.codes()), self.exact, context.read - 1)

    def pending(self, context: WorkingContext, generation: int, every: int) -> int:
        """Return positions that reading the context would compute; 0 where it was read last."""
        following = self.after(context, generation, every)
        codes = context.codes()
        if self.last is None or following.contexts == (context,):
            same = following.contexts == self.contexts and not self.closed
            return 0 if same else context.read - self.clean(context, generation)
        return int(np.isin(codes, self.last.codes(), invert=True).sum())

    @cached_property
    def digest(self) -> str:
        """Hash of all that decides the next logits."""
        signatures = "/".join(context.signature for context in self.contexts)
        return hashlib.sha256(f"{signatures}|{self.closed}".encode()).hexdigest()[:16]


NOTHING_READ = ReadHistory()


Parts = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class FocusState:
    """All but the lifetime's tokens, of which the context knows how many there were.

    settings: as the operator has them now.
    since: tokens decoded after the last refocus. fresh: text came in since. residency: the refocus in which
    each entry took its present level. scores, parts: of each entry at the last refocus. answer: tokens decoded since
    the last text. answering: the model's turn is open. random: state of the generator, where tokens are drawn. sealed:
    gists whose detail was forgotten. question_share: as FocusView has it.
    findings: of the question, where the lifetime was searched. reads: what the keys and values of the context come
    from.
    """

    context: WorkingContext
    settings: FocusSettings
    allocator: AllocatorState = field(default_factory=AllocatorState)
    step: int = 0
    since: int = 0
    fresh: bool = True
    residency: Mapping[NodeRef, int] = field(default_factory=dict)
    scores: Mapping[NodeRef, float] = field(default_factory=dict)
    parts: Mapping[NodeRef, Parts] = field(default_factory=dict)
    last: Refocus | None = None
    history: tuple[tuple[Band, ...], ...] = ()
    swaps: tuple[float, ...] = ()
    question: str = ""
    question_tokens: tuple[int, ...] = ()
    answer: tuple[int, ...] = ()
    answering: bool = False
    finished: bool = False
    random: torch.Tensor | None = None
    sealed: NodeSet = NOTHING
    question_share: float | None = None
    findings: Findings | None = None
    reads: ReadHistory = NOTHING_READ

    def digest(self, tokens: str) -> str:
        """16 hex digits of all that decides what comes next, given the hash of the lifetime's tokens."""
        allocator = self.allocator
        entries = self.context.signature
        marks = [
            sorted((str(node), value) for node, value in marked.items())
            for marked in (allocator.opened, allocator.closed, allocator.overrides)
        ]
        flags = (self.step, self.since, self.fresh, self.finished, allocator.refocus)
        hits = [hit.block for hit in self.findings.blocks] if self.findings is not None else None
        read = self.reads.digest if self.settings.full_read_every > 1 else ""  # a full read depends on no history
        settings = self.settings.model_dump_json()
        whole = f"{flags}|{settings}|{marks}|{entries}|{tokens}|{self.sealed.runs}|{hits}|{read}"
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def without(self, sealed: NodeSet) -> FocusState:
        """Return the state with exactly these gists sealed: the window shows nothing below them."""
        context = self.context.without(sealed)
        context.check()
        number = self.allocator.refocus
        residency = {entry.node: self.residency.get(entry.node, number) for entry in context.entries()}
        return replace(self, context=context, residency=residency, sealed=sealed, reads=NOTHING_READ)

    def keyframe(self, tokens: str) -> Keyframe:
        """Return the state as a periodic keyframe of a trace, with the hash of the lifetime's tokens."""
        allocator = self.allocator
        return Keyframe(
            step=self.step,
            lifetime=self.context.lifetime,
            used=self.context.used,
            entries=tuple(entry.node for entry in self.context.entries()),
            opened=tuple(sorted(allocator.opened.items())),
            closed=tuple(sorted(allocator.closed.items())),
            overrides=tuple(sorted(allocator.overrides.items())),
            state_hash=self.digest(tokens),
        )


def mean_residency(context: WorkingContext, residency: Mapping[NodeRef, int], number: int) -> float:
    """Refocuses that the entries outside the tail have kept their level, on average."""
    settled = [entry.node for entry in context.entries() if entry.end <= context.tail_start]
    total = sum(number - residency.get(node, number) for node in settled)
    return total / len(settled) if settled else 0.0
