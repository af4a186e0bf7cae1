"""Packs: frames that were kept, each version with its members, and what is done with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.frame import Span

PackRole = Literal["source", "learning"]
"""source: what was taken in; learning: what was made of other blocks, and cites them."""
PackGraph = Literal["semantic", "temporal", "causal", "entity"]
"""Alike in meaning; read after one another; led to useful readings; share keywords and names."""
GRAPHS: tuple[PackGraph, ...] = get_args(PackGraph)
PackLayer = Literal["graphs", "agents", "attention", "operations", "focus", "continuum", "weights"]
"""The seven layers between a question and its text, in the order of the specification."""
LAYERS: tuple[PackLayer, ...] = get_args(PackLayer)
PackAction = Literal["ADD", "UPDATE", "DELETE", "MERGE", "NOOP"]
"""ADD: keep what is read together as one pack. UPDATE: put what superseded a member in its place. DELETE: retire.
MERGE: keep the members of both under the first name and retire the second. NOOP: leave it as it is.
"""
ACTIONS: tuple[PackAction, ...] = get_args(PackAction)


@dataclass(frozen=True, slots=True)
class PackMember:
    """A block of a pack, by its id."""

    block: str
    role: PackRole = "source"


@dataclass(frozen=True, slots=True)
class Pack:
    """A version of a pack. id: SHA-256 of its title, keywords and members in order, so equal content has one id.
    query, frame: what it was kept from; "" for blocks that were named. tokens: of the texts of all members.
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
        """Ids of its members, in order."""
        return tuple(member.block for member in self.members)


@dataclass(frozen=True, slots=True)
class PackKept:
    """Result of keeping a pack. operation: None where the latest version is the same already. answerable: of a query,
    the chance that the memory holds an answer; None where nothing tells, and unestimated says why. unheld: the words of
    the query that no block holds.
    """

    pack: Pack
    operation: int | None
    answerable: float | None = None
    unestimated: str = ""
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackUsage:
    """A pack with what its log says. success: the mean outcome. needed: how likely it is read within 30 days. born:
    when it was kept first; age, unread: days since, and since it was read last. failures: of the latest five outcomes.
    weight: what outcomes taught, .5 for nothing. forget: whether it would go for the others to fit.
    """

    pack: Pack
    uses: int
    last_used: datetime | None
    judged: int
    success: float | None
    needed: float
    born: datetime
    age: float
    unread: float
    failures: int = 0
    weight: float = 0.5
    forget: bool = False


@dataclass(frozen=True, slots=True)
class PackLink:
    """Link to another pack in one graph, and its strength, in (0, 1]."""

    name: str
    graph: PackGraph
    weight: float


@dataclass(frozen=True, slots=True)
class PackContent:
    """A pack with its members as they are now. gone: ids of those no longer held or used. readings: the latest, the
    newest first. beside: names of packs that sessions read with it, the most often first.
    """

    usage: PackUsage
    blocks: tuple[Block, ...]
    gone: tuple[str, ...]
    versions: tuple[Pack, ...]
    readings: tuple[PackUse, ...] = ()
    links: tuple[PackLink, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackUse:
    """One reading of a pack, as it is logged. outcome: from 0 useless to 1 useful, None not judged."""

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


@dataclass(frozen=True, slots=True)
class RoutedPack:
    """A pack that a question may be given. worth: how much of what answers it holds, as the layers see it."""

    pack: Pack
    tokens: int
    worth: float
    chosen: bool
    because: str


@dataclass(frozen=True, slots=True)
class PackStage:
    """A step from packs to a text, with what it did, and what went in and came out. unit: what is counted."""

    name: str
    did: str
    unit: Literal["packs", "sentences", "members"]
    count_in: int
    count_out: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class PackAssembly:
    """A text of at most `budget` tokens for a question, whose spans tile it. packs: those that were chosen, then the
    others. blocks: members of which something stands in it; shortened: those of which a part does. uses: the numbers of
    the readings in the log.
    """

    query: str
    budget: int
    tokens: int
    text: str
    spans: tuple[Span, ...]
    packs: tuple[RoutedPack, ...]
    blocks: tuple[str, ...]
    shortened: tuple[str, ...]
    stages: tuple[PackStage, ...]
    layers: tuple[PackLayer, ...] = ()
    rationale: tuple[tuple[str, str], ...] = ()
    uses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PackOutcome:
    """Outcome of readings. taught: the lesson for each pack: its weight before and after."""

    uses: tuple[PackUse, ...]
    operation: int
    taught: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class PackProposal:
    """Something that could be done with packs, once it is accepted. packs: NAME@VERSION; the first changes, or stays.
    name: of the pack that comes of it. come, gone: blocks that become members, or are members no longer. sure: how
    likely the policy takes it rather than leave the packs. features: what the policy saw.
    """

    id: str
    action: PackAction
    packs: tuple[str, ...]
    name: str
    come: tuple[str, ...]
    gone: tuple[str, ...]
    because: str
    sure: float
    features: tuple[float, ...] = ()
