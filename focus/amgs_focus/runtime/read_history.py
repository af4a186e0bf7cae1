"""Which contexts the base model read since its last full read: what the keys and values it holds depend on.

After a change, reading in full computes everything from the first changed position on. Reusing computes only the
positions that are new and keeps all others, turned to where they stand now, although they never saw what changed
before them. Keys and values then depend on how they came about, so that is part of the state: the keys and values of
a history are those of its first context read in full, and of each later one the ones of the context before for every
position that stood there, computed after everything before it for every other. The same history gives the same
logits, whatever a cache happens to hold.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from amgs_focus.window.working_context import Codes, WorkingContext


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
        """The context that was read last."""
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
        """The same, with a full read next: for text that came in."""
        return replace(self, closed=True)

    def after(self, context: WorkingContext, generation: int, every: int) -> ReadHistory:
        """The history once this context is read. every: reads after a change, of which the last is in full."""
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
        """Whether the context, were it changed by now, would be read by reusing what was read before."""
        grown = self.last is not None and context.lifetime > self.last.lifetime
        return grown and not self.closed and generation == self.generation and len(self.contexts) < every

    def clean(self, context: WorkingContext, generation: int) -> int:
        """Leading positions that a full read of the context would not compute."""
        if self.last is None or generation != self.generation:
            return 0
        return min(common(self.last.codes(), context.codes()), self.exact, context.used - 1)

    def pending(self, context: WorkingContext, generation: int, every: int) -> int:
        """Positions that reading the context would compute; 0 where it was read last."""
        following = self.after(context, generation, every)
        codes = context.codes()
        if self.last is None or following.contexts == (context,):
            same = following.contexts == self.contexts and not self.closed
            return 0 if same else context.used - self.clean(context, generation)
        return int(np.isin(codes, self.last.codes(), invert=True).sum())

    @cached_property
    def digest(self) -> str:
        """What of it decides the logits to come."""
        held = "/".join(context.signature for context in self.contexts)
        return hashlib.sha256(f"{held}|{self.closed}".encode()).hexdigest()[:16]


NOTHING_READ = ReadHistory()


def common(left: Codes, right: Codes) -> int:
    """Positions from the front that are equal."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(left[:length] != right[:length])
    return int(differ[0]) if len(differ) else length
