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

RelationFamily = Literal["semantic", "temporal", "causal", "entity"]
"""semantic: on the same thing, or against it; temporal: before or after; causal: a cause that a text states; entity: of
the same name, or a link.
"""
FAMILIES: tuple[RelationFamily, ...] = get_args(RelationFamily)

QuestionIntent = Literal["multi-hop", "temporal", "open-domain", "single-hop"]
"""What a question asks for, in LoCoMo's words. multi-hop: several things, said at several places; temporal: when;
open-domain: what is likely, of which nothing is said outright; single-hop: one thing that is said.
"""
INTENTS: tuple[QuestionIntent, ...] = get_args(QuestionIntent)

PackAction = Literal["ADD", "UPDATE", "DELETE", "MERGE"]
"""ADD: keep what is read together as one pack. UPDATE: put what superseded a member in its place. DELETE: retire.
MERGE: keep the members of both under the first name and retire the second. What is not proposed is left as it is.
"""


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
    an outcome that were useful, None where none has one. needed: how likely it is read within 30 days. forget: whether
    it would go for the others to fit into the tokens that were asked for.
    """

    pack: Pack
    uses: int
    last_used: datetime | None
    judged: int
    success: float | None
    needed: float
    forget: bool = False


@dataclass(frozen=True, slots=True)
class PackLink:
    """How many relations of a family there are between the members of a pack and those of another, in either
    direction. name: of the other.
    """

    name: str
    family: RelationFamily
    count: int


@dataclass(frozen=True, slots=True)
class PackContent:
    """A pack with its members as they are now. gone: ids of members that the memory no longer holds or uses.
    readings: the latest, the newest first. links: what ties its members to those of other packs, by name, then by
    family.
    """

    usage: PackUsage
    blocks: tuple[Block, ...]
    gone: tuple[str, ...]
    versions: tuple[Pack, ...]
    readings: tuple[PackUse, ...] = ()
    links: tuple[PackLink, ...] = ()


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
    """One reading of a pack, as it is logged. outcome: 1 useful, 0 useless, None not judged."""

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
    """A pack that a question is given. tokens: of a reading. gain: by how much what answers is likelier to be among
    the chosen packs with it, after those chosen before it.
    """

    pack: Pack
    tokens: int
    gain: float


@dataclass(frozen=True, slots=True)
class PackRoute:
    """The packs for a question within a budget, in the order of choice. words: those of the question that say what is
    asked about, and whether a chosen pack holds each. likely: how likely what answers is among the chosen, if any pack
    has it. left_out: packs that were not chosen, with what each would still add. intents: what the question asks for,
    with how likely that is, the likeliest first; it explains, and changes no choice.
    """

    query: str
    budget: int
    tokens: int
    packs: tuple[RoutedPack, ...]
    words: tuple[tuple[str, bool], ...]
    likely: float
    left_out: tuple[RoutedPack, ...]
    intents: tuple[tuple[QuestionIntent, float], ...]


@dataclass(frozen=True, slots=True)
class PackStageChange:
    """Why a stage gives on less, or more, than it was given. count: of what the stage chooses among, and tokens; both
    are negative for what is left out. ids: packs by name, members by their ids.
    """

    why: str
    count: int
    tokens: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackStage:
    """A step of the road from packs to a text. What comes in and the changes add up to what goes out, in number and in
    tokens, and what goes out in tokens comes into the next. unit: what is counted.
    """

    unit: str
    count_in: int
    tokens_in: int
    changes: tuple[PackStageChange, ...]
    count_out: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class PackAssembly:
    """A text of at most `budget` tokens for a question, whose spans tile it. packs: those that were chosen, in that
    order. blocks: members of which something stands in it; shortened: those of which a part does. uses: the numbers of
    the log's rows, one for each pack of which something was read; none where nothing is logged.
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
    uses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Learning:
    """A block that is made of sentences and findings of others. members: their ids, in the order of time. tokens: its
    own; of: those of its members.
    """

    block: Block
    members: tuple[str, ...]
    tokens: int
    of: int


@dataclass(frozen=True, slots=True)
class PackLearned:
    """What learning from a pack came to, or would.

    pack: the version with its learnings and sources. learnings: the new ones. stood: how many there were already.
    stale: ids of those that go, because a source of theirs is gone. waiting: ids of sources that are in no learning.
    operation: of the journal; None for a plan, and where nothing was to be learned.
    """

    pack: Pack
    learnings: tuple[Learning, ...]
    stood: int
    stale: tuple[str, ...]
    waiting: tuple[str, ...]
    planned: bool
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class PackProposal:
    """Something that could be done with packs. Nothing is done before it is accepted.

    id: of the action and the packs as they are. packs: names with the version they were looked at; the first is the one
    that changes, or stays. name: what the pack that comes of it is called. come, gone: blocks that become members, or
    are members no longer. sure: the rule's confidence in [0, 1].
    """

    id: str
    action: PackAction
    packs: tuple[str, ...]
    name: str
    come: tuple[str, ...]
    gone: tuple[str, ...]
    because: str
    sure: float


@dataclass(frozen=True, slots=True)
class PackWeight:
    """What the verdicts on the readings of a pack say of it. share: of the judged readings that were useful; bound: the
    one-sided 95 % lower bound of that. A pack is thought useful where the bound is above one half.
    """

    name: str
    judged: int
    share: float
    bound: float


@dataclass(frozen=True, slots=True)
class PackWeights:
    """What judged readings taught, the pack with the highest bound first. left_out: verdicts that count for no pack,
    since all packs of a session shared them.
    """

    packs: tuple[PackWeight, ...]
    left_out: int
