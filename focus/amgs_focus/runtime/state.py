"""Everything the runtime holds between two steps, as one immutable value; stepping back is taking an older
one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch

from amgs_focus.records import Band, Findings, Keyframe, NodeRef, Refocus
from amgs_focus.runtime.read_history import NOTHING_READ, ReadHistory
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.node_set import NOTHING, NodeSet
from amgs_focus.window.candidates import AllocatorState
from amgs_focus.window.working_context import WorkingContext

Parts = tuple[tuple[str, float], ...]

_THRESHOLDS = ", Thresholds(lean=0.0, calm=1.0))"
"""Thresholds could once move; hashes say so still, so that traces of that time replay."""


@dataclass(frozen=True)
class FocusState:
    """All but the lifetime's tokens, of which the context knows how many there were.

    settings: as the operator has them now.
    since: tokens decoded after the last refocus. fresh: text came in since. residency: the refocus in which
    each entry took its present level. scores, parts: of each entry at the last refocus. answer: tokens
    decoded since the last text. answering: the model's turn is open. random: state of the generator, where
    tokens are drawn. sealed: gists whose detail was forgotten. question_share: as FocusView has it. findings: of the
    question, where the lifetime was searched. reads: what the keys and values of the context come from.
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
            for marked in (allocator.opened, allocator.closed, allocator.flips, allocator.overrides)
        ]
        flags = (self.step, self.since, self.fresh, self.finished, allocator.refocus)
        # where everything is read in full the history decides nothing; hashes are as they were before these settings
        reused = self.settings.full_read_every > 1
        settings = self.settings.for_hashes()
        sealed = f"|{self.sealed.runs}" if self.sealed.runs else ""
        found = f"|{[one.block for one in self.findings.blocks]}" if self.findings is not None else ""
        read = f"|{self.reads.digest}" if reused else ""
        whole = f"{str(flags)[:-1]}{_THRESHOLDS}|{settings}|{marks}|{entries}|{tokens}{sealed}{found}{read}"
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def without(self, sealed: NodeSet) -> FocusState:
        """The state once exactly these gists are sealed: the window shows no more of what lies below them."""
        context = self.context.without(sealed)
        context.check()
        number = self.allocator.refocus
        residency = {entry.node: self.residency.get(entry.node, number) for entry in context.entries()}
        return replace(self, context=context, residency=residency, sealed=sealed, reads=NOTHING_READ)

    def keyframe(self, tokens: str) -> Keyframe:
        """The state as a trace keeps it from time to time, given the hash of the lifetime's tokens."""
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
    kept = sum(number - residency.get(node, number) for node in settled)
    return kept / len(settled) if settled else 0.0
