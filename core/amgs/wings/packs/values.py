"""Packs and what is done with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.frame import Span

PackRole = Literal["source", "learning"]
"""source: ingested text; learning: text derived from other blocks, which it cites."""
PackGraph = Literal["semantic", "temporal", "causal", "entity"]
"""Similar meaning; read after each other; led to useful readings; common keywords and names."""
GRAPHS: tuple[PackGraph, ...] = get_args(PackGraph)
PackLayer = Literal["graphs", "agents", "attention", "operations", "focus", "continuum", "weights"]
"""The seven layers between a question and its text, in the order of the specification."""
LAYERS: tuple[PackLayer, ...] = get_args(PackLayer)
PackAction = Literal["ADD", "UPDATE", "DELETE", "MERGE", "NOOP"]
"""ADD: keep packs that are read together as one pack. UPDATE: replace superseded members. DELETE: retire. MERGE: keep
the members of both under the first name and retire the second. NOOP: change nothing.
"""
ACTIONS: tuple[PackAction, ...] = get_args(PackAction)


@dataclass(frozen=True, slots=True)
class PackMember:
    """A block of a pack, by id."""

    block: str
    role: PackRole = "source"


@dataclass(frozen=True, slots=True)
class Pack:
    """A version of a pack.

    id: SHA-256 of its title, keywords and members in order, so equal content has one id. query, frame: what it was
    saved from; "" for named blocks. tokens: of all members' texts.
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

    operation: None if the latest version is equal already. answerable: probability that the memory holds an answer to
    the query; if None, unestimated says why. unheld: words of the query that are in no block.
    """

    pack: Pack
    operation: int | None
    answerable: float | None = None
    unestimated: str = ""
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackUsage:
    """A pack with what its log says.

    success: mean outcome. needed: probability that it is read within 30 days. born: when it was first saved; age,
    unread: days since then, and since the last reading. failures: among the latest five outcomes. weight: learned from
    outcomes, .5 without any. forget: it would be dropped so that the others fit.
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
    """Link to another pack in a single graph, with its strength in (0, 1]."""

    name: str
    graph: PackGraph
    weight: float


@dataclass(frozen=True, slots=True)
class PackContent:
    """A pack with its members as they are now.

    gone: ids of members no longer held or used. readings: the latest, newest first. beside: packs that sessions read
    with it, most frequent first.
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
    """A logged reading of a pack. outcome: from 0 useless to 1 useful, None if not judged."""

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
    """A pack considered for a question. worth: how much of the answer it holds, by the layers."""

    pack: Pack
    tokens: int
    worth: float
    chosen: bool
    because: str


@dataclass(frozen=True, slots=True)
class PackStage:
    """A step from packs to a text: what it did, and the counts before and after. unit: what is counted."""

    name: str
    did: str
    unit: Literal["packs", "sentences", "members"]
    count_in: int
    count_out: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class PackAssembly:
    """A text of at most `budget` tokens for a question, which its spans tile.

    packs: chosen ones, then the others. blocks: members in the text; shortened: those of which only a part is. uses:
    numbers of the readings in the log.
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
    """Outcome of readings. taught: each pack's weight before and after."""

    uses: tuple[PackUse, ...]
    operation: int
    taught: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class PackProposal:
    """Something that could be done with packs, if accepted.

    packs: NAME@VERSION; the first is changed or stays. name: of the resulting pack. come, gone: blocks that become
    members, or stop being members. sure: probability that it is better than doing nothing. features: the state that the
    policy saw.
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
