"""The subject "coreference" of `conversation` on a scene made up here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amgs.conversation.coreference.passage import Kind
from benchmarks.conversation.coreference import is_right, measured

ADA, BEN = "Ada Moor", "Ben Orsa"
SAID = [
    (ADA, [["Ben", ",", "I", "met", "Joshua", "."], ["He", "likes", "you", "."]]),
    (BEN, [["We", "know", "him", "."]]),
]
MEANT = [
    [[[0, 1, BEN], [2, 3, ADA], [4, 5, "Joshua Burgin"]], [[0, 1, "Joshua Burgin"], [2, 3, BEN]]],
    [[[0, 1, ADA, BEN], [2, 3, "Joshua Burgin"]]],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    utterances = [
        {
            "speakers": [who],
            "transcript": " ".join(w for s in words for w in s),
            "tokens": words,
            "character_entities": m,
        }
        for (who, words), m in zip(SAID, MEANT, strict=True)
    ]
    episodes = {"episodes": [{"episode_id": "e1", "scenes": [{"utterances": utterances}]}]}
    (tmp_path / "character-identification-dev.json").write_text(json.dumps(episodes))
    return tmp_path


def test_everybody_of_a_scene_is_found_and_the_controls_stand_beside(folder: Path) -> None:
    found = measured(folder, 1)
    assert found is not None
    assert found.metrics["friends_accuracy"] == 100.0
    assert found.metrics["friends_simple_rules"] < 100.0
    ways = [row[0] for row in found.tables[0].rows]
    assert ways[0] == "rules" and "shuffled annotation" in ways


def test_several_people_must_be_exactly_those_annotated() -> None:
    people = frozenset((ADA, BEN))
    assert is_right((ADA, BEN), people, (ADA, BEN), Kind.WE)
    assert not is_right((ADA,), people, (ADA, BEN), Kind.WE)
    assert is_right((ADA,), people, (ADA, BEN), Kind.YOU)
    assert is_right(("Joshua",), frozenset(("Joshua Burgin",)), (ADA, BEN), Kind.NAME)
    assert not is_right((), people, (), Kind.I)
