"""Two hops: what names the same as the best hit is found, in whatever text but a dialogue."""

from __future__ import annotations

import pytest

from amgs.retrieval.sources import Sources
from amgs.retrieval.text_features import name_phrases
from amgs.retrieval.waterfall import RetrievalRequest, search
from tests.engine.retrieval_world import note, world

QUERY = "in what town was the builder of the dome born"
FIRST = "The builder of the dome, born in a town, was Ines Falk."
SECOND = "Ines Falk grew up beside the harbour of Morla."
STRANGER = "Piet Maas grew up beside the harbour of Sundby."
NEARER = ("a town was born", "the builder of a town", "a dome in a town", "a builder was born", "the town of the dome")


@pytest.fixture(scope="module")
def sources() -> Sources:
    return world([note(text) for text in (FIRST, STRANGER, *NEARER, SECOND)], [])


def lift(sources: Sources, opening: str, **rest: object) -> float:
    """What shared names add for the hit that begins so."""
    hits = search(RetrievalRequest(QUERY, **rest), sources, 12).hits  # type: ignore[arg-type]
    found = next(hit for hit in hits if hit.block.content.startswith(opening))
    return dict(found.evidence)["shared_names"]


def test_what_names_the_same_as_the_best_hit_is_lifted(sources: Sources) -> None:
    assert lift(sources, FIRST) >= lift(sources, SECOND) > lift(sources, STRANGER) == 0.0


def test_a_turn_beside_texts_has_what_they_have_on_the_mean() -> None:
    talk = [
        note(f"{who}: {said}", meta={"source": f"talk#{place}", "speaker": who.lower()})
        for place, (who, said) in enumerate([("Ann", "In a town."), ("Bo", "Born?"), ("Ann", "The builder.")])
    ]
    mixed = world([*(note(text) for text in (FIRST, STRANGER, *NEARER, SECOND)), *talk], [])
    texts = [lift(mixed, text) for text in (FIRST, STRANGER, *NEARER, SECOND)]
    assert lift(mixed, "Bo: Born?") == pytest.approx(sum(texts) / len(texts))


def test_names_are_runs_of_words_with_a_capital() -> None:
    text = "The Bank of Morla paid Ines Falk's aunt. It did, in Élan & Co."
    assert list(name_phrases(text)) == ["bank of morla", "ines falk s", "élan"]
