"""Hold what a strategy plans with (`Material`) and its decisions so far (`Draft`): a fate for each message, and the
tokens used.

The tokens that a draft counts must never be fewer than `render` writes, or the context exceeds its budget.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from amgs.conversation.citing import Piece, pieces_of
from amgs.conversation.protection import Protected, ProtectedShare, Protection
from amgs.text.language_model import CountTokens, approximate_tokens
from amgs.types.conversation import ContextMessage, ContextSettings, Message, SpanFate

ESTIMATE = "estimate"
OVERHEAD = 4
"""Tokens that a chat template adds to a message."""


@dataclass(frozen=True, slots=True)
class MessageCounter:
    """Counts the tokens of messages. name: of the model whose tokenizer counts; ESTIMATE where words and punctuation
    are counted instead.
    """

    count: CountTokens = approximate_tokens
    name: str = ESTIMATE

    @classmethod
    def of(cls, count: CountTokens) -> MessageCounter:
        """Return the counter behind a function that counts the tokens of a text."""
        if count is approximate_tokens:
            return cls()
        name = str(getattr(count, "name", "the tokenizer"))
        return cls(count, name or ESTIMATE)

    @property
    def estimated(self) -> bool:
        """Whether tokens are estimated, because no tokenizer is known."""
        return self.name == ESTIMATE

    def cost(self, message: Message | ContextMessage) -> int:
        """Return the tokens of a message in a chat template: text, speaker, tool calls and OVERHEAD."""
        calls = sum(self.count(c.name) + self.count(c.arguments) + OVERHEAD for c in message.calls)
        speaker = self.count(message.speaker) if message.speaker else 0
        return OVERHEAD + speaker + self.count(message.text) + calls


Atom = tuple[int, ...]
"""Indexes of messages that stay together, such as a tool call and its result."""
Cited = tuple[int, ...]
"""Numbers of pieces of a message, ascending; see `Material.pieces`."""
Fate = tuple[SpanFate, Cited]
"""What happens to a message: kept, masked (a single line), digested (these pieces are cited) or dropped."""
DROPPED: Fate = ("dropped", ())
KEPT: Fate = ("kept", ())
MASKED: Fate = ("masked", ())


_MUCH = 0.1
"""Share of the budget above which only the protected sentences of an atom are cited."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a strategy plans with; sequences have an entry for each message.

    costs: tokens of each message whole. masked: tokens as a single line; equal to the cost where that saves nothing.
    protected: how strongly each is protected, and why. atoms: messages that stay together. rates: value a token, see
    `relevance.odds_of`; empty where there is no evidence. gap: most tokens of a line that marks a gap. budget: tokens,
    gap lines included. voices: the role that cites each message; "" for a tool output, which is cited in its own place,
    and for a message that cannot be cited. mark: most tokens before the citations of a role. count: counts a text's
    tokens. topics: computes the (start, end) indexes of each topic.
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
        """Return the protection of an atom: the highest of its messages."""
        return max(self.protected[place].level for place in atom)

    def reason(self, atom: Atom) -> str:
        """Return why an atom is protected."""
        return self._strongest(atom).because

    def share(self, atom: Atom) -> ProtectedShare:
        """Return whose share of the budget a protected atom takes."""
        return self._strongest(atom).share

    def _strongest(self, atom: Atom) -> Protected:
        """Return the highest protection of an atom's messages, of the first that has it."""
        return max((self.protected[place] for place in atom), key=lambda own: own.level)

    def protect(self, atom: Atom) -> dict[int, Fate]:
        """Return the fates of a protected atom: whole, but for a long atom only the sentences that are protected."""
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
        """Return the fates of an atom with its tool outputs masked where that saves tokens."""
        return {place: MASKED if self.masked[place] < self.costs[place] else KEPT for place in atom}

    def value(self, atom: Sequence[int]) -> float:
        """Return the value of an atom included whole."""
        return sum(self.rates[place] * self.costs[place] for place in atom)

    def pieces(self, place: int) -> tuple[Piece, ...]:
        """Return the pieces of a message that may be cited; () for a message with tool calls, which is whole or
        dropped.
        """
        message = self.messages[place]
        return () if message.calls else pieces_of(message.text, message.at)

    def piece_cost(self, place: int, number: int) -> int:
        """Return the tokens of a cited piece between others."""
        cost = self._piece_costs.get((place, number))
        if cost is None:
            _, start, end = self.pieces(place)[number]
            text = " ".join(self.messages[place].text[start:end].split())
            cost = self._piece_costs[place, number] = self.count(f"… {text} …")
        return cost

    def cite_cost(self, place: int) -> int:
        """Return the tokens before a message's citations: its number and speaker, or the line of a tool output."""
        message = self.messages[place]
        if message.role == "tool":
            return self.masked[place] if self.masked[place] < self.costs[place] else self.mark
        return self.count(f"\n#{message.number} {message.speaker}: ")

    def tokens(self, place: int, fate: Fate) -> int:
        """Return the most tokens that a message takes with a fate, without marks that it shares with its neighbours."""
        kind, pieces = fate
        if kind == "kept":
            return self.costs[place]
        if kind == "masked":
            return self.masked[place]
        if kind == "digested":
            return self.cite_cost(place) + sum(self.piece_cost(place, number) for number in pieces)
        return 0

    def cite(self, atom: Atom, cites: Mapping[int, Cited]) -> dict[int, Fate]:
        """Return the fates of an atom of which these messages are cited. With tool calls in it, the calls stay whole
        and the other outputs are masked; else its other messages keep their fate.
        """
        rest = self.mask(atom) if any(self.messages[place].calls for place in atom) else {}
        return rest | {place: ("digested", pieces) for place, pieces in cites.items() if pieces}


@dataclass(slots=True)
class Draft:
    """Fates that a strategy has decided so far; at first every message is dropped. because: the reason for each.

    used: tokens, with the marks of gaps and citations.
    """

    material: Material
    fates: list[Fate] = field(init=False)
    because: list[str] = field(init=False)
    used: int = field(init=False)
    _shown: list[int] = field(init=False)
    """Indexes of messages that are not dropped, between -1 and the number of messages."""

    def __post_init__(self) -> None:
        size = len(self.material.messages)
        self.fates = [DROPPED] * size
        self.because = [""] * size
        self.used = self.material.gap if size else 0
        self._shown = [-1, size]

    @classmethod
    def resume(cls, material: Material, fates: list[Fate], because: list[str], used: int) -> Draft:
        """Return a draft with these fates. used: the tokens that they take, gaps included."""
        draft = cls(material)
        draft.fates, draft.because, draft.used = fates, because, used
        draft._shown[1:1] = [place for place, fate in enumerate(fates) if fate != DROPPED]
        return draft

    def cost(self, changes: Mapping[int, Fate]) -> int:
        """Return the additional tokens of changed fates, marks included. The changes must not drop a message."""
        if not changes:
            return 0
        material = self.material
        start, end = bisect_left(self._shown, min(changes)), bisect_right(self._shown, max(changes))
        before = self._shown[start - 1 : end + 1]
        taken = sum(material.tokens(at, fate) - material.tokens(at, self.fates[at]) for at, fate in changes.items())
        return taken + self._count_marks(sorted({*before, *changes}), changes) - self._count_marks(before, {})

    def change(self, changes: Mapping[int, Fate], because: str) -> None:
        """Change the fates of messages, with the reason."""
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
        """Return whether changes fit into the budget, or into `within` tokens."""
        return self.used + self.cost(changes) <= (self.material.budget if within is None else within)

    def is_dropped(self, atom: Sequence[int]) -> bool:
        return all(self.fates[place] == DROPPED for place in atom)

    def _count_marks(self, places: Sequence[int], changes: Mapping[int, Fate]) -> int:
        """Return the tokens of the marks between shown messages at these indexes, once `changes` are applied; see
        `render`.
        """
        voices = [self._voice(place, changes.get(place)) for place in places]
        total = 0
        for (left, right), (left_voice, right_voice) in zip(pairwise(places), pairwise(voices), strict=True):
            if right_voice and right_voice != left_voice:
                total += self.material.mark
            elif right - left > 1 and not left_voice and not right_voice:
                total += self.material.gap
        return total

    def _voice(self, place: int, fate: Fate | None) -> str:
        """Return the role that cites a message; "" where it is not cited."""
        if not 0 <= place < len(self.fates):
            return ""
        return self.material.voices[place] if (fate or self.fates[place])[0] == "digested" else ""


def spans_of(sessions: Sequence[int]) -> list[tuple[int, int]]:
    """Return the (start, end) indexes of each session. sessions: the session of each message."""
    starts = [place for place in range(len(sessions)) if place == 0 or sessions[place] != sessions[place - 1]]
    return list(zip(starts, [*starts[1:], len(sessions)], strict=True))
