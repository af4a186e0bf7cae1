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
"""semantic: packs that mean nearly the same; temporal: which was read after which; causal: which led to readings that
were useful; entity: which share keywords and names.
"""
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
        """Ids of its members, in order."""
        return tuple(member.block for member in self.members)


@dataclass(frozen=True, slots=True)
class PackKept:
    """Result of keeping a pack.

    operation: of the journal; None where the latest version is the same already. answerable: of a pack kept for a
    query, the chance that the memory holds an answer to it; None where nothing tells, and unestimated says why. unheld:
    the words of the query that no block holds.
    """

    pack: Pack
    operation: int | None
    answerable: float | None = None
    unestimated: str = ""
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackUsage:
    """A pack with what its log says. uses: how often its name was read; success: the mean outcome, None for none.
    needed: how likely it is read within 30 days. born: when it was kept first; age, unread: days since, and since it
    was read last. failures: of the latest five outcomes. weight: what outcomes taught of it, in (0, 1), .5 for nothing.
    forget: whether it would go for the others to fit into the tokens asked for.
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
    """A pack with its members as they are now. gone: ids of members that the memory no longer holds or uses.
    readings: the latest, the newest first. links: what ties it to others, by name, then by graph. beside: names of
    packs that sessions read with it, the most often first.
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
    """A pack that a question may be given. worth: how much of what answers it holds, as the layers see it. chosen:
    whether it is read; because: why, or why not.
    """

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
    """A text of at most `budget` tokens for a question, whose spans tile it. packs: those that were chosen, in that
    order, then the others. blocks: members of which something stands in it; shortened: those of which a part does.
    layers: those that were switched on. rationale: what each agent says of its choice. uses: the numbers of the log's
    rows, one for each pack of which something was read; none where nothing is logged.
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
    """Outcome of readings.

    operation: of the journal, which `undo` takes back. taught: the lesson for each pack: its weight before and after.
    """

    uses: tuple[PackUse, ...]
    operation: int
    taught: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class PackProposal:
    """Something that could be done with packs. Nothing is done before it is accepted.

    id: of the action and the packs as they are. packs: names with the version they were looked at; the first is the one
    that changes, or stays. name: what the pack that comes of it is called. come, gone: blocks that become members, or
    are members no longer. sure: how likely the policy takes it rather than leave the packs as they are. features: what
    the policy saw.
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
