"""`search` on books made up here: stores of any size out of paragraphs, and every figure it promises."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from amgs.identity import block_id
from benchmarks.__main__ import run as run_benchmark
from benchmarks.large_corpus import Books

WORDS = ("harbour", "lantern", "ridge", "mirror", "copper", "willow", "thunder", "basin", "orchard", "ferry")
NAMES = ("Amelia", "Bertram", "Cornelia", "Desmond", "Edwina", "Florian")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books")
    chance = random.Random(3)
    for book in ("one", "two"):
        paragraphs = []
        for _ in range(40):
            told = [
                f"The {chance.choice(WORDS)} of {chance.choice(NAMES)} stood {chance.randrange(90)} years by the "
                f"{chance.choice(WORDS)} and the {chance.choice(WORDS)}."
                for _ in range(2)
            ]
            asked = f"Who saw the {chance.choice(WORDS)} near the {chance.choice(WORDS)}?"
            paragraphs.append(" ".join([*told, asked]))
        (folder / f"{book}.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    return folder


def test_the_books_come_first_and_every_block_is_another(data: Path) -> None:
    books = Books(data)
    made = list(books.slices(300, seed=1, size=128))
    contents = [content for one in made for content in one.contents]
    ids = [i for one in made for i in one.ids]
    assert contents[: len(books.paragraphs)] == list(dict.fromkeys(p.text for p in books.paragraphs))
    assert len(set(ids)) == 300 and ids == [block_id(content) for content in contents]
    assert contents == [c for one in books.slices(300, seed=1, size=77) for c in one.contents]


def test_the_bench_prints_what_it_promises(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--model", "tiny", "search", "--blocks", "200,300", "--data", str(data), "--json"]
    more = ["--work", str(tmp_path), "--questions", "6", "--frames", "2", "--sample", "10"]
    assert run_benchmark([*line, *more]) == 0
    found = json.loads(capsys.readouterr().out)
    for size in (200, 300):
        for name in (
            "p50_ms",
            "p95_ms",
            "cpu_p50_ms",
            "session_p50_ms",
            "session_cpu_p50_ms",
            "after_change_cpu_ms",
            "open_s",
            "peer_bm25s_p50_ms",
            "duckdb_scan_p50_ms",
        ):
            assert found["metrics"][f"{name}_{size}"] > 0
        assert found["metrics"][f"recall100_{size}"] == 1.0
    assert found["metrics"]["cold_words_cpu_s_200"] > 0 and found["metrics"]["cold_vectors_cpu_s_200"] > 0
    assert found["bench"] == "search" and found["settings"]["blocks"] == [200, 300]
