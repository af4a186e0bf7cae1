"""Input of a strategy's plan: the messages, their costs and worth, and those that must stay."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from amgs.conversation.citing import Piece, pieces_of
from amgs.conversation.protection import Protected, Protection
from amgs.text.tokens import CountTokens, approximate_tokens
from amgs.types.conversation import ContextMessage, ContextSettings, Message, SpanFate

ESTIMATE = "estimate"
OVERHEAD = 4
"""Tokens that a chat template puts around a message."""


@dataclass(frozen=True, slots=True)
class MessageCounter:
    """Counts the tokens of messages. name: of the model whose tokens they are; ESTIMATE where words and signs stand in
    for them.
    """

    count: CountTokens = approximate_tokens
    name: str = ESTIMATE

    @classmethod
    def of(cls, count: CountTokens) -> MessageCounter:
        """Return the counter behind a function that counts the tokens of a text."""
        if count is approximate_tokens:
            return cls()
        name = str(getattr(count, "name", "the given tokenizer"))
        return cls(count, name or ESTIMATE)

    @property
    def estimated(self) -> bool:
        """Return whether no tokenizer is known."""
        return self.name == ESTIMATE

    def cost(self, message: Message | ContextMessage) -> int:
        """Return tokens of a message in a chat template: its text, who speaks, its calls and what stands around it."""
        calls = sum(self.count(c.name) + self.count(c.arguments) + OVERHEAD for c in message.calls)
        speaker = self.count(message.speaker) if message.speaker else 0
        return OVERHEAD + speaker + self.count(message.text) + calls


Atom = tuple[int, ...]
"""Places of messages that stay together."""
Cited = tuple[int, ...]
"""Numbers of pieces of a message, rising; see `pieces`."""
Fate = tuple[SpanFate, Cited]
"""What becomes of a message, and where it is digested, what is cited of it."""
DROPPED: Fate = ("dropped", ())
KEPT: Fate = ("kept", ())
MASKED: Fate = ("masked", ())


_MUCH = 0.1
"""The share of the budget from which on only the sentences of a message are protected."""


@dataclass(frozen=True, slots=True)
class Material:
    """Sequences have one entry a message. costs: tokens of each whole; masked: as one line, equal to its cost where
    that saves nothing. protected: how firmly each is kept and why. atoms: see there. gap: tokens of a line that marks a
    gap, at most. budget: tokens, gaps included. rates: see `relevance`; empty where nothing can be said.

    voices: in whose voice a message is cited; "" for an output of a tool, which is cited in its own place, or for what
    cannot be. mark: tokens of what stands before the citations of one voice, at most. count: tokens of a text. query:
    what is asked. topics: (start, end) of each, found when they are asked for.
    """

    messages: Sequence[Message]
    costs: Sequence[int]
    masked: Sequence[int]
    protected: Sequence[Protected]
    atoms: Sequence[Atom]
    rates: Sequence[float]
    gap: int
    budget: int
    voices: Sequence[str]
    mark: int
    count: Callable[[str], int]
    query: str
    topics: Callable[[], Sequence[tuple[int, int]]]
    settings: ContextSettings
    _piece_costs: dict[tuple[int, int], int] = field(default_factory=dict, compare=False)

    def level(self, atom: Atom) -> Protection:
        """Return how firmly an atom is kept: as firmly as its firmest message."""
        return max(self.protected[place].level for place in atom)

    def reason(self, atom: Atom) -> str:
        """Say why an atom is kept."""
        return next(own.because for own in map(self.protected.__getitem__, atom) if own.level == self.level(atom))

    def protect(self, atom: Atom) -> dict[int, Fate]:
        """Return the fates of an atom that is protected: whole, but of one that would take much of the budget only the
        sentences for which it is.
        """
        whole = dict.fromkeys(atom, KEPT)
        firm = [place for place in atom if self.protected[place].level == self.level(atom)]
        short = sum(self.costs[place] for place in atom) <= self.budget * _MUCH
        if short or any(not self.protected[place].spans for place in firm):
            return whole
        cites = {
            place: tuple(
                number
                for number, (slot, start, end) in enumerate(self.pieces(place))
                if slot == "sentence" and any(start < b and a < end for a, b in self.protected[place].spans)
            )
            for place in firm
        }
        return self.cite(atom, cites) or whole

    def mask(self, atom: Atom) -> dict[int, Fate]:
        """Give the fates of an atom whose outputs of tools are one line each."""
        return {place: MASKED if self.masked[place] < self.costs[place] else KEPT for place in atom}

    def value(self, atom: Sequence[int]) -> float:
        """Return what an atom gives."""
        return sum(self.rates[place] * self.costs[place] for place in atom)

    def pieces(self, place: int) -> tuple[Piece, ...]:
        """Return what may be cited of a message; nothing of one that calls tools, which is whole or not there."""
        message = self.messages[place]
        return () if message.calls else pieces_of(message.text, message.at)

    def piece_cost(self, place: int, number: int) -> int:
        """Return tokens of a piece where it stands among others."""
        cost = self._piece_costs.get((place, number))
        if cost is None:
            _, start, end = self.pieces(place)[number]
            text = " ".join(self.messages[place].text[start:end].split())
            cost = self._piece_costs[place, number] = self.count(f"… {text} …")
        return cost

    def cite_cost(self, place: int) -> int:
        """Return tokens of what says where a citation is from: a number and a name, or the line of an output of a
        tool.
        """
        message = self.messages[place]
        if message.role == "tool":
            return self.masked[place] if self.masked[place] < self.costs[place] else self.mark
        return self.count(f"\n#{message.number} {message.speaker}: ")

    def tokens(self, place: int, fate: Fate) -> int:
        """Return tokens of a message with a fate, at most; marks that it shares with its neighbours aside."""
        kind, pieces = fate
        if kind == "kept":
            return self.costs[place]
        if kind == "masked":
            return self.masked[place]
        if kind == "digested":
            return self.cite_cost(place) + sum(self.piece_cost(place, number) for number in pieces)
        return 0

    def cite(self, atom: Atom, cites: Mapping[int, Cited]) -> dict[int, Fate]:
        """Give the fates of an atom of which some messages are cited. Where it calls tools, its calls stay whole and
        its other outputs are one line each; else what is not cited of it is left out.
        """
        rest = self.mask(atom) if any(self.messages[place].calls for place in atom) else {}
        return rest | {place: ("digested", pieces) for place, pieces in cites.items() if pieces}


@dataclass(slots=True)
class Draft:
    """Fates while a strategy decides; everything is dropped at first. used: tokens, marks of gaps and digests too."""

    material: Material
    fates: list[Fate] = field(init=False)
    because: list[str] = field(init=False)
    used: int = field(init=False)
    _shown: list[int] = field(init=False)
    """Places that are not dropped, between the two ends."""

    def __post_init__(self) -> None:
        size = len(self.material.messages)
        self.fates = [DROPPED] * size
        self.because = [""] * size
        self.used = self.material.gap if size else 0
        self._shown = [-1, size]

    @classmethod
    def resume(cls, material: Material, fates: list[Fate], because: list[str], used: int) -> Draft:
        """Go on from fates. used: the tokens that they take, gaps included."""
        draft = cls(material)
        draft.fates, draft.because, draft.used = fates, because, used
        draft._shown[1:1] = [place for place, fate in enumerate(fates) if fate != DROPPED]
        return draft

    def cost(self, changes: Mapping[int, Fate]) -> int:
        """Count the tokens that changes would take, more or fewer marks included. Nothing is dropped by them."""
        if not changes:
            return 0
        material = self.material
        start, end = bisect_left(self._shown, min(changes)), bisect_right(self._shown, max(changes))
        before = self._shown[start - 1 : end + 1]
        taken = sum(material.tokens(at, fate) - material.tokens(at, self.fates[at]) for at, fate in changes.items())
        return taken + self._count_marks(sorted({*before, *changes}), changes) - self._count_marks(before, {})

    def change(self, changes: Mapping[int, Fate], because: str) -> None:
        """Give messages other fates."""
        self.used += self.cost(changes)
        for place, fate in changes.items():
            if self.fates[place] == DROPPED:
                insort(self._shown, place)
            self.fates[place] = fate
            self.because[place] = because

    def keep(self, atom: Sequence[int], because: str) -> None:
        """Keep an atom whole."""
        self.change(dict.fromkeys(atom, KEPT), because)

    def fits(self, changes: Mapping[int, Fate], within: int | None = None) -> bool:
        """Return whether there is room for changes."""
        return self.used + self.cost(changes) <= (self.material.budget if within is None else within)

    def is_dropped(self, atom: Sequence[int]) -> bool:
        return all(self.fates[place] == DROPPED for place in atom)

    def _count_marks(self, places: Sequence[int], changes: Mapping[int, Fate]) -> int:
        """Count the tokens of the marks between what is shown at neighbouring places; see `render`."""
        voices = [self._voice(place, changes.get(place)) for place in places]
        total = 0
        for (left, right), (left_voice, right_voice) in zip(pairwise(places), pairwise(voices), strict=True):
            if right_voice and right_voice != left_voice:
                total += self.material.mark
            elif right - left > 1 and not left_voice and not right_voice:
                total += self.material.gap
        return total

    def _voice(self, place: int, fate: Fate | None) -> str:
        if not 0 <= place < len(self.fates):
            return ""
        return self.material.voices[place] if (fate or self.fates[place])[0] == "digested" else ""


def spans_of(sessions: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start, end) of the sessions of messages."""
    starts = [place for place in range(len(sessions)) if place == 0 or sessions[place] != sessions[place - 1]]
    return list(zip(starts, [*starts[1:], len(sessions)], strict=True))
