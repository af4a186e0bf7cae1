"""The store that ships with the sample: what its notes give, with a question that is answered in the first row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from amgs.storage.opening import open_storage
from amgs.text.embedding_text import embedding_text
from amgs.text.entities import Entity
from amgs.text.language_model import approximate_tokens
from amgs.text.prose import prose
from amgs.types import Block, BlockFilter, Progress, Vector
from amgs_app import operations
from amgs_app.engine import Engine, Options
from amgs_app.panes.layout import Layout
from amgs_app.panes.row_filter import list_candidates
from amgs_app.places import corpus
from amgs_app.places.corpus import sample_corpus
from amgs_app.session import Operator
from scripts import sample_build


class _Remembered:
    """Vectors and names as the shipped store has them; what consolidation makes of them is computed anew."""

    name = "all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self, blocks: Iterable[Block]) -> None:
        blocks = tuple(blocks)
        self._vectors = {embedding_text(one): one.embedding for one in blocks if one.embedding is not None}
        self._names = {prose(block.content): block.meta.get("entities", ()) for block in blocks}

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        del progress
        first = next(iter(self._vectors.values()))  # of a question: which one is asked changes no block
        return np.stack([self._vectors.get(text, first) for text in texts])

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        kept = [self._names.get(text, ()) for text in texts]  # as it is kept: an identifier is not cleaned again
        return [tuple(Entity(name, "identifier") for name in names) for names in kept]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A first session on the sample, with the models that ship."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMGS_DATA", str(tmp_path_factory.mktemp("data")))
        with Engine(Options(corpus=sample_corpus().path)) as made:
            yield made


def test_a_first_session_finds_the_sample_consolidated_and_whole(engine: Engine) -> None:
    assert engine.memory.counts() == {"consolidated": 693, "raw": len(sample_build.NEW_NOTES)}
    assert engine.sample_time and engine.clock.now().isoformat().startswith("2026-03-01T09:0")
    assert engine.memory.verify().ok
    assert {one.pieces > 0 and Path(one.place).is_file() for one in engine.memory.sources.list()} == {True}
    assert engine.memory.sources.plan_folder(sample_corpus().path).only_adds  # nothing has changed since


def test_its_first_row_answers_its_question(engine: Engine) -> None:
    with Operator(engine) as operator:
        found = operator.look(operations.frame.last())
        layout = operator.look(operations.workspace.arrange())
        assert isinstance(layout, Layout) and layout.pane == "frame"
    assert found.frame is not None and found.frame.query == sample_build.QUESTION
    first = list_candidates(found.frame)[0]
    assert first.child == "ATTENTION" and first.fate == "selected"
    assert sample_build.ANSWER in first.block.meta["sources"] and "Sourdough named *Frau Doktor*" in first.block.content


def test_it_ships_what_its_notes_give(engine: Engine, tmp_path: Path) -> None:
    """Vectors and names are taken from it; texts, categories, edges and sources are made of the notes anew."""
    engine.close()
    with open_storage(engine.store_path, read_only=True) as storage:
        ids = [block.id for block in storage.blocks.select(BlockFilter())]
        shipped = _Remembered(storage.blocks.get(ids, embeddings=True).values())
    made = sample_build.build(tmp_path / corpus.STORE, sample_build.TextModels(shipped, shipped, approximate_tokens))
    del made["recogniser"]  # names itself after the encoder here
    assert sample_build.differences(sample_build.facts(), made) == [], "`make sample` makes it anew"


def test_what_lies_there_already_stays(tmp_path: Path) -> None:
    there = tmp_path / "observatory.duckdb"
    there.write_bytes(b"mine")
    assert not corpus.unpack(there)
    assert there.read_bytes() == b"mine"
    assert sorted(tmp_path.iterdir()) == [there]
    assert not corpus.unpack(tmp_path / "no such folder" / "observatory.duckdb")


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (Options(corpus=sample_corpus().path, model="tiny"), {}),
        (Options(corpus=sample_corpus().path, store="own.duckdb"), {}),
        (Options(corpus=sample_corpus().path), {"AMGS_MODEL__EMBEDDER": "/another/encoder"}),
        (Options(corpus=sample_corpus().path / "notes"), {}),
        (Options(own=True), {}),
    ],
    ids=["tiny model", "store named", "other encoder", "own folder", "own memory"],
)
def test_no_other_store_begins_with_it(
    options: Options, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {"AMGS_DATA": str(tmp_path), **environment}.items():
        monkeypatch.setenv(name, value)
    with Engine(options) as engine:
        assert engine.memory.counts() == {}
