"""What the grammar tells of messages: who and what is named, whose something is, whom pronouns mean."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from amgs.conversation.coreference.antecedents import AntecedentScorer
from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.references import SpokenPassage, read_spoken, references_in
from amgs.conversation.resolved.concepts import concepts_in
from amgs.conversation.resolved.confidence import CONCEPT
from amgs.conversation.resolved.names import NamedMention, named_in
from amgs.conversation.resolved.patterns import MOST
from amgs.conversation.resolved.personal import bare_name, personal_in
from amgs.types.conversation import Message, ResolvedReference
from amgs.types.mentions import ResolvedMention

NAME = "parser"


def by_grammar(
    messages: Sequence[Message],
    wanted: Collection[int],
    taken: Sequence[ResolvedMention],
    parser: GrammarParser,
    scorer: AntecedentScorer,
) -> tuple[ResolvedMention, ...]:
    """The mentions in the messages of these numbers; the others are read for what came before.

    taken: what is known of them by its shape, within which nothing is a name. Raises ModelError without a parser.
    """
    read = read_spoken(messages, parser, scorer)
    if read is None:
        return ()
    known = {(n, i) for one in taken for n in (one.number,) for i in range(one.start, one.end)}
    counts: dict[int, int] = {}
    found = []
    named = tuple(named_in(read))
    people = frozenset(one.start for one in named if one.type == "person")
    for one in (
        *_names(read, named),
        *_personal(read, people),
        *_references(read, scorer.name),
        *_concepts(read),
    ):
        if one.number not in wanted or counts.get(one.number, 0) >= MOST:
            continue
        if one.kind in ("person", "entity", "concept") and (one.number, one.start) in known:
            continue
        counts[one.number] = counts.get(one.number, 0) + 1
        found.append(one)
    spans = {(one.number, one.start, one.end) for one in found if one.kind in ("person", "personal")}
    return tuple(
        one for one in found if one.kind != "reference" or (one.number, one.start, one.end) not in spans
    )


def _names(read: SpokenPassage, named: Sequence[NamedMention]) -> Iterator[ResolvedMention]:
    for one in named:
        yield ResolvedMention(
            read.spoken[one.turn].number,
            read.placed(one.start, one.turn),
            read.placed(one.end, one.turn),
            read.passage.text[one.start : one.end],
            "person" if one.type == "person" else "entity",
            one.type,
            (bare_name(one.means),),
            one.confidence,
            one.because,
            NAME,
        )


def _personal(read: SpokenPassage, people: Collection[int]) -> Iterator[ResolvedMention]:
    for one in personal_in(read, people):
        yield ResolvedMention(
            read.spoken[one.turn].number,
            read.placed(one.start, one.turn),
            read.placed(one.end, one.turn),
            read.passage.text[one.start : one.end],
            "personal",
            one.type,
            (one.means,),
            one.confidence,
            f"{one.owner} has it",
            NAME,
        )


def _references(read: SpokenPassage, scorer: str) -> Iterator[ResolvedMention]:
    for one in references_in(read):
        yield ResolvedMention(
            one.number,
            one.start,
            one.end,
            one.text,
            "reference",
            "person",
            tuple(map(bare_name, one.names)),
            one.confidence,
            one.because,
            scorer,
            one.antecedent,
        )


def _concepts(read: SpokenPassage) -> Iterator[ResolvedMention]:
    for start, end, turn, means in concepts_in(read):
        yield ResolvedMention(
            read.spoken[turn].number,
            read.placed(start, turn),
            read.placed(end, turn),
            read.passage.text[start:end],
            "concept",
            "concept",
            (means,),
            CONCEPT,
            "a term of several nouns",
            NAME,
        )


def is_reference(one: ResolvedMention) -> bool:
    """Whether a mention means somebody by other words than the name."""
    return one.kind == "reference" or (one.kind == "person" and one.means != (one.text,))


def as_reference(one: ResolvedMention) -> ResolvedReference:
    """The same mention as a reference."""
    return ResolvedReference(
        one.number, one.start, one.end, one.text, one.means, one.confidence, one.because, one.antecedent
    )
