"""Packs: frames that were kept, each version with its members, and what became of them in use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.frame import Span

PackRole = Literal["source", "learning"]
"""source: what was taken in; learning: what was made of other blocks, and cites them."""


@dataclass(frozen=True, slots=True)
class PackMember:
    """A block of a pack, by its id."""

    block: str
    role: PackRole = "source"


@dataclass(frozen=True, slots=True)
class Pack:
    """A version of a pack. id: SHA-256 of its title, keywords and members in order, so equal content has one id.

    version: from 1 up under its name. query, frame: what it was kept from; "" for blocks that were named. tokens: of
    the texts of all members. retired: it is listed and used no more.
    """

    name: str
    version: int
    id: str
    title: str
    members: tuple[PackMember, ...]
    keywords: tuple[str, ...]
    tokens: int
    created_at: datetime
    query: str = ""
    frame: str = ""
    retired: bool = False

    @property
    def blocks(self) -> tuple[str, ...]:
        """The ids of its members, in order."""
        return tuple(member.block for member in self.members)


@dataclass(frozen=True, slots=True)
class PackKept:
    """What keeping came to. operation: of the journal; None where the latest version says the same already.
    answerable: of a pack kept for a query, the chance that the memory holds an answer to it; None where nothing tells,
    and unestimated says why. unheld: the words of the query that no block holds.
    """

    pack: Pack
    operation: int | None
    answerable: float | None = None
    unestimated: str = ""
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackUsage:
    """A pack with what its log says. uses: how often a version of that name was read; success: the share of those with
    an outcome that were useful, None where none has one.
    """

    pack: Pack
    uses: int
    last_used: datetime | None
    judged: int
    success: float | None


@dataclass(frozen=True, slots=True)
class PackContent:
    """A pack with its members as they are now. gone: ids of members that the memory no longer holds or uses.
    origins: the blocks that its learnings were made of, as far as they are held.
    """

    usage: PackUsage
    blocks: tuple[Block, ...]
    gone: tuple[str, ...]
    versions: tuple[Pack, ...]
    origins: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class PackDifference:
    """From one version to another: members that came and went, in their order, and keywords alike."""

    left: Pack
    right: Pack
    come: tuple[Block, ...]
    gone: tuple[Block, ...]
    shared: int
    keywords_come: tuple[str, ...]
    keywords_gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackUse:
    """One reading of a pack, as it is logged. outcome: 1 useful, 0 useless, None not judged. credit: nats a token by
    which an answer was less likely without it, None where it was not credited; reader: the model that says so.
    """

    number: int
    name: str
    version: int
    pack: str
    at: datetime
    query: str
    session: str
    tokens: int
    blocks: tuple[str, ...]
    outcome: float | None = None
    credit: float | None = None
    reader: str = ""


@dataclass(frozen=True, slots=True)
class PackText:
    """What was read of a pack: its text, whose spans tile it, and the members for which there was no room.

    use: the number of the log's row; None where nothing is logged. shortened: members of which sentences are left out.
    """

    pack: Pack
    query: str
    budget: int
    tokens: int
    text: str
    spans: tuple[Span, ...]
    blocks: tuple[str, ...]
    left_out: tuple[str, ...]
    gone: tuple[str, ...]
    use: int | None
    shortened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoutedPack:
    """A pack that a question is given, and what it adds to the term of each agent; tokens: of a reading."""

    pack: Pack
    tokens: int
    relevance: float
    efficiency: float
    quality: float
    recency: float
    domain: float

    @property
    def gain(self) -> float:
        """What it adds to all terms, given what was chosen before it."""
        return self.relevance + self.efficiency + self.quality + self.recency + self.domain


@dataclass(frozen=True, slots=True)
class PackRoute:
    """The packs for a question within a budget, in the order of choice. words: those of the question that say what is
    asked about, and whether a chosen pack holds each. likely: how likely what answers is among the chosen, if any pack
    has it. left_out: packs that were not chosen, with what each would still add. rounds: of proposals and
    exchanges until no agent wanted another.
    """

    query: str
    budget: int
    tokens: int
    packs: tuple[RoutedPack, ...]
    words: tuple[tuple[str, bool], ...]
    likely: float
    left_out: tuple[RoutedPack, ...]
    rounds: int


@dataclass(frozen=True, slots=True)
class PackOutlook:
    """A pack, how likely it is read within the horizon, and whether it would be retired.

    ahead: (13,) the same now, and after each quarter of the horizon more in which it is not read.
    """

    usage: PackUsage
    needed: float
    forget: bool
    ahead: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class PackForecast:
    """What packs are worth to the days that come, the most likely needed first. tokens: of all of them; keep: tokens
    that those which are not forgotten take at most, None where nothing is to be forgotten. operation: of the journal,
    None for a plan.
    """

    days: float
    tokens: int
    keep: int | None
    packs: tuple[PackOutlook, ...]
    operation: int | None = None

    @property
    def forgotten(self) -> tuple[PackOutlook, ...]:
        """Those that would be, or were, retired."""
        return tuple(one for one in self.packs if one.forget)


@dataclass(frozen=True, slots=True)
class PackCourse:
    """How likely a pack was read within `days`, from when it was kept until now, by what had been read by then; and
    from now on for as long again, if it is not read. at, needed: (N,), by time, `now` among them. readings: by time,
    the latest of them.
    """

    name: str
    days: float
    now: datetime
    at: tuple[datetime, ...]
    needed: tuple[float, ...]
    readings: tuple[datetime, ...]

    @property
    def here(self) -> float:
        """How likely it is now."""
        return self.needed[self.at.index(self.now)]


@dataclass(frozen=True, slots=True)
class PackSequence:
    """How likely `after` is the pack that is read next in a session where `before` was. times: how often it was.
    usual: how often `after` is next whatever was read before, of all steps from one pack to another.
    """

    before: str
    after: str
    likely: float
    times: int
    usual: float


@dataclass(frozen=True, slots=True)
class PackSet:
    """Packs that sessions read together: in how many, and how many times more than by chance."""

    names: tuple[str, ...]
    sessions: int
    lift: float


@dataclass(frozen=True, slots=True)
class PackHabits:
    """What the log of readings says of sessions: their number, what follows what, and what is read together."""

    sessions: int
    sequences: tuple[PackSequence, ...]
    sets: tuple[PackSet, ...]
