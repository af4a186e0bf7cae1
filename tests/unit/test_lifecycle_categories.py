"""Categories say why; decay and confidence follow from them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.decay import PROFILES
from amgs.lifecycle.categories import CATEGORIES, categorise, decay_of, initial_confidence
from amgs.lifecycle.self_detection import is_self_component


@pytest.mark.parametrize(
    ("text", "meta", "category"),
    [
        ("anything", {"tags": ["person"]}, "person"),
        ("anything", {"source": "vault/places/kitchen.md"}, "place"),
        ("Nuria: We decided it.", {"kind": "dialogue", "source": "dialogues/x.md#3"}, "dialogue"),
        ("I prefer tea to coffee, and my favourite cake is plum.", {}, "preference"),
        ("We decided to buy the Norvik encoder instead of the Lotz one.", {}, "decision"),
        ("1. Open the shutter\n2. Check the wind\n3. Turn the key", {}, "procedure"),
        ("TODO: order toner, deadline Friday", {}, "task"),
        ("I believe that honesty comes before comfort, and I never lend what I cannot spare.", {}, "value"),
        ("Saw a fox tonight at 21:10, -4 °C.", {}, "observation"),
        ("The boiler valve part number is QX-7741-B.", {}, "fact"),
        ("blue green red", {}, "note"),
        ("It is a kernel that works as a drop-in and is in the cache.", {}, "note"),
        ("Use a list instead of a tuple. The release is available today.", {}, "note"),
        ("We value your contributions. I believe this licence holds; we never sell data.", {}, "note"),
        ("I prefer tabs.", {}, "preference"),
        ("I love this!", {}, "note"),
        ("I'd prefer to meet on Tuesday.", {}, "note"),
        ("I never saw that coming.", {}, "note"),
        ("Ida: Are you in?\n\nPer: Yes, we decided to go.\n\nIda: My bag!\n\nPer: I have it.", {}, "dialogue"),
        ("Type: the kind.\nDefault: none.\nType: a path.\nDefault: the home folder.", {}, "note"),
        ("# Ida Holm\n\nIda Holm (born 2 May 1950) is a Danish rower. She won twice.", {}, "person"),
        ("# Morla\n\nMorla is a small town in the east of the county. It has a mill.", {}, "place"),
        ("# TODO\n\n* Mend the gate\n* Paint the fence", {}, "task"),
        ("It remind me of rain. " + "The harbour was quiet. " * 4, {}, "note"),
        ("We decided to leave. " + "The harbour was quiet. " * 3, {}, "decision"),
        ("We decided to leave. " + "The harbour was quiet. " * 9, {}, "note"),
        ("Install the package with pip. I never use the API, and I believe in releases.", {}, "note"),
    ],
)
def test_a_block_gets_its_category_and_the_reason(text: str, meta: dict[str, Any], category: str) -> None:
    verdict = categorise(text, meta)
    assert verdict.category == category
    assert verdict.because


@given(st.text(max_size=400), st.lists(st.text(max_size=8), max_size=4))
def test_any_text_gets_a_known_category_and_sane_numbers(text: str, tags: list[str]) -> None:
    verdict = categorise(text, {"tags": tags, "source": text[:20]})
    assert verdict.category in CATEGORIES
    assert 0 < verdict.confidence < 1
    assert 0.2 <= initial_confidence(text, verdict) <= 0.95
    assert decay_of(verdict.category) in PROFILES.values()


def test_values_of_others_are_not_the_self_once_the_owner_is_known() -> None:
    theirs = {"author": "Beppo"}
    assert not is_self_component("value", 0.9, theirs, "")
    assert is_self_component("value", 0.9, {**theirs, "tags": ["values"]}, "")
    assert not is_self_component("value", 0.9, theirs, "Tally")
    assert is_self_component("value", 0.9, {"author": "Tally"}, "Tally")
    assert is_self_component("observation", 0.1, {"tags": ["self"], "author": "Beppo"}, "Tally")
    assert not is_self_component("observation", 0.9, {"author": "Tally"}, "Tally")


def test_a_note_that_says_several_kinds_of_things_is_of_each_and_no_less_sure() -> None:
    mixed = (
        "The boiler runs at 1.4 bar. I prefer green tea in the morning. We decided to keep the old valve. "
        "Remind me to call the plumber before Friday."
    )
    verdict = categorise(mixed, {})
    assert {verdict.category, *verdict.further} == {"preference", "decision", "task"}
    assert verdict.confidence >= 0.6
    turn = categorise("I value honesty, and we decided to go.", {"kind": "dialogue"})
    assert (turn.category, set(turn.further)) == ("dialogue", {"value", "decision"})
    page = categorise("We decided to leave. " + "The harbour was quiet. " * 9, {})
    assert (page.category, page.further) == ("note", ("decision",))
    assert not categorise("I love this! The harbour was quiet.", {}).further


def test_the_self_speaks_in_the_first_person_several_times_or_of_what_it_prefers_and_in_no_manual() -> None:
    own = "I value quiet mornings. My evenings belong to the family. I never answer mail at night."
    assert is_self_component("value", 0.9, {}, "", own)
    assert is_self_component("value", 0.9, {}, "", "I value quiet mornings and I prefer tea to coffee.")
    assert not is_self_component("preference", 0.9, {}, "", "I prefer tea. The kettle is old. It leaks at the spout.")
    assert not is_self_component("preference", 0.9, {}, "", "She wrote: “I prefer tea.”")
    assert not is_self_component("preference", 0.9, {}, "", "Vera: I prefer tea.")
    assert not is_self_component("value", 0.9, {}, "", own.replace("I ", "We ").replace("My", "Our"))
    assert not is_self_component("value", 0.9, {"source": "numkit/README.md"}, "", own)
