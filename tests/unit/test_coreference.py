"""Who is meant by pronouns and names, each with a confidence, beside a text that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from amgs.conversation.coreference.parser import GrammarParser, detect_mentions, place_mentions
from amgs.conversation.coreference.passage import CorefPassage, Kind
from amgs.conversation.coreference.people import CorefCue, People
from amgs.conversation.coreference.resolver import Resolution, resolve


@pytest.fixture(scope="module")
def parser() -> GrammarParser:
    return GrammarParser()


def resolved(
    parser: GrammarParser, turns: Sequence[tuple[str, str]], known: Sequence[str] = ()
) -> list[tuple[str, tuple[str, ...], CorefCue]]:
    passage = detect_mentions(parser.parse(turns))
    found = resolve(passage, known)
    return [(passage.mentions[one.mention].text, one.names, one.cue) for one in found]


def test_i_is_who_speaks_and_you_who_is_called_else_the_neighbour(parser: GrammarParser) -> None:
    turns = [
        ("Ada", "I painted the fence."),
        ("Ben", "Did you like it?"),
        ("Ada", "Carla, you should come too."),
        ("Carla", "I will."),
    ]
    said = resolved(parser, turns)
    assert ("I", ("Ada",), CorefCue.SPEAKER) in said
    assert ("you", ("Ada",), CorefCue.BETWEEN) in said
    assert ("you", ("Carla",), CorefCue.CALLED) in said
    assert said[-1] == ("I", ("Carla",), CorefCue.SPEAKER)


def test_the_only_other_speaker_is_you_and_we_are_both(parser: GrammarParser) -> None:
    said = resolved(parser, [("user", "Can you help me? We are late."), ("assistant", "I can.")])
    assert ("you", ("assistant",), CorefCue.ONLY_TWO) in said
    assert ("We", ("user", "assistant"), CorefCue.WITH_ADDRESSEE) in said


def test_she_is_the_woman_named_before_and_never_who_speaks(parser: GrammarParser) -> None:
    turns = [("Rachel", "Emily met Victor. She liked him."), ("Thomas", "Was she nice?")]
    said = {text: names for text, names, _ in resolved(parser, turns)}
    assert said["She"] == ("Emily",)
    assert said["him"] == ("Victor",)
    assert said["she"] == ("Emily",)


def test_a_known_person_is_found_by_first_name_and_short_form() -> None:
    people = People(["Rachel Green"], ["Mindy Hunter", "Monica Geller"])
    assert people.identify("Mindy") == ("Mindy Hunter", CorefCue.NAMED)
    assert people.identify("Rach") == ("Rachel Green", CorefCue.NICKNAME)
    assert people.identify("Mrs. Geller") == ("Monica Geller", CorefCue.NAMED)
    assert people.identify("Quincy") == ("Quincy", CorefCue.NEW_NAME)
    assert People([], ["Ann Lee", "Ann Moor"]).identify("Ann") == ("Ann", CorefCue.NEW_NAME)


def test_an_empty_turn_and_a_text_without_a_speaker_are_read(parser: GrammarParser) -> None:
    assert resolved(parser, []) == []
    assert resolved(parser, [("Ada", ""), ("", "I know you.")])[0][1] == ()


def test_every_answer_has_a_confidence_and_the_text_stays(parser: GrammarParser) -> None:
    turns = [("Ada", "My sister told Bob she was ill."), ("Bob", "Ada, did she call you? \x07 We heard it.")]
    passage = detect_mentions(parser.parse(turns))
    found: tuple[Resolution, ...] = resolve(passage)
    assert all(0.0 < one.confidence <= 1.0 for one in found if one.names)
    assert all(one.confidence == 0.0 for one in found if not one.names)
    assert [passage.text[t.start : t.end] for t in passage.turns] == [text for _, text in turns]


def test_what_lies_in_no_turn_or_is_no_pronoun_or_name_is_left_out(parser: GrammarParser) -> None:
    passage: CorefPassage = place_mentions(parser.parse([("Ada", "Hello.")]).passage, [(0, 3), (5, 10)])
    assert [m.kind for m in passage.mentions] == [Kind.LABEL]
