"""What a strategy plans with: the messages, what each costs and is worth, and what must stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from amgs.conversation.protection import Protection
from amgs.types.conversation import Message, SpanFate


@dataclass(frozen=True, slots=True)
class Material:
    """Sequences have one entry a message. costs: tokens of each whole; masked: as one line, equal to its cost where
    that saves nothing. protected: how firmly each is kept and why. atoms: see there. gap: tokens of a line that marks a
    gap, at most. budget: tokens, gaps included. rates: see `relevance`; empty where nothing can be said.
    """

    messages: Sequence[Message]
    costs: Sequence[int]
    masked: Sequence[int]
    protected: Sequence[tuple[Protection, str]]
    atoms: Sequence[tuple[int, ...]]
    rates: Sequence[float]
    gap: int
    budget: int

    def level(self, atom: Sequence[int]) -> Protection:
        """An atom is kept as firmly as its firmest message."""
        return max(self.protected[place][0] for place in atom)

    def value(self, atom: Sequence[int]) -> float:
        """What an atom gives."""
        return sum(self.rates[place] * self.costs[place] for place in atom)


@dataclass(slots=True)
class Draft:
    """Fates while a strategy decides; everything is dropped at first. used: tokens, of gaps too."""

    material: Material
    fates: list[SpanFate] = field(init=False)
    because: list[str] = field(init=False)
    used: int = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.material.messages)
        self.fates = ["dropped"] * size
        self.because = [""] * size
        self.used = self.material.gap if size else 0

    @classmethod
    def of(cls, material: Material, fates: list[SpanFate], used: int) -> Draft:
        """A draft that goes on from fates, which it changes. used: the tokens that they take, gaps included."""
        made = cls(material)
        made.fates, made.used = fates, used
        return made

    def cost_of(self, atom: Sequence[int], *, masked: bool = False) -> int:
        """What it would take to keep a dropped atom: its tokens, more or fewer gaps counted in."""
        kept = set[int]()
        gaps = 0
        for place in atom:
            beside = sum(self._is_open(other, kept) for other in (place - 1, place + 1))
            gaps += beside - 1
            kept.add(place)
        costs = self.material.masked if masked else self.material.costs
        return sum(costs[place] for place in atom) + gaps * self.material.gap

    def keep(self, atom: Sequence[int], because: str, *, masked: bool = False) -> None:
        """Keep a dropped atom; masked: with its outputs of tools as one line each."""
        self.used += self.cost_of(atom, masked=masked)
        for place in atom:
            shorter = masked and self.material.masked[place] < self.material.costs[place]
            self.fates[place] = "masked" if shorter else "kept"
            self.because[place] = because

    def fits(self, atom: Sequence[int], *, masked: bool = False, within: int | None = None) -> bool:
        """Whether there is room for a dropped atom."""
        budget = self.material.budget if within is None else within
        return self.used + self.cost_of(atom, masked=masked) <= budget

    def is_dropped(self, atom: Sequence[int]) -> bool:
        return self.fates[atom[0]] == "dropped"

    def _is_open(self, place: int, kept: set[int]) -> bool:
        inside = 0 <= place < len(self.fates)
        return inside and self.fates[place] == "dropped" and place not in kept
