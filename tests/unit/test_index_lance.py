"""The words and vectors of a built dataset answer as this process's own indexes do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from amgs.errors import StoreError, UsageError
from amgs.index.joined_words import JoinedWords
from amgs.index.keyword import KeywordIndex
from amgs.index.lexical import LexicalIndex
from amgs.index.snapshot_store import Stamp
from amgs.index.vector import VectorIndex

pytest.importorskip("lance", reason="the extra lance is not installed")

from amgs.index.lance.build import BlockRows, DatasetBuild
from amgs.index.lance.dataset import SearchDataset, place
from amgs.index.lance.vectors import base_of
from amgs.index.lance.words import LanceWords

DIMENSION = 16
WITHIN = 0.06
"""Of a score: tantivy rounds the length of a text to one of 256 steps, Lance keeps it."""
WORDS = [
    "valve",
    "dome",
    "stalls",
    "azimuth",
    "ledger",
    "letter",
    "harbour",
    "lamp",
    "wren",
    "anchor",
    "Käse",
]
PARTS = ["QX-7741-B", "qx7741b", "v2.3.1", "ZZ-9", "dome-motor"]
QUERIES = [
    "valve",
    "the dome stalls",
    "QX-7741-B",
    "qx7741b",
    "harbor lamp ledger",
    "kase anchor ZZ-9",
    "???",
]


def texts(many: int) -> dict[int, str]:
    """Texts of 3 to 12 words by number, some with a part number; the same on every run."""
    drawn = np.random.default_rng(5)
    made = {}
    for number in range(1, many + 1):
        words = [
            WORDS[i] for i in np.minimum(drawn.geometric(0.3, drawn.integers(3, 12)) - 1, len(WORDS) - 1)
        ]
        if number % 4 == 0:
            words.append(PARTS[int(drawn.integers(len(PARTS)))])
        made[number] = " ".join(words)
    return made


def vectors(many: int) -> NDArray[np.float32]:
    made = np.random.default_rng(6).standard_normal((many, DIMENSION)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def rows(held: dict[int, str], matrix: NDArray[np.float32]) -> BlockRows:
    numbers = np.array(sorted(held), dtype=np.int64)
    return BlockRows(
        numbers, [held[n] for n in numbers.tolist()], matrix[numbers - 1], np.ones(numbers.size, np.bool_)
    )


def of(structure: int) -> dict[str, object]:
    return {"store": "tests", "structure": structure, "space": ("hashing", DIMENSION)}


def built(folder: Path, held: dict[int, str], approximate_from: int = 10**9) -> SearchDataset:
    build = DatasetBuild(str(folder), DIMENSION, approximate_from)
    return build.finish(build.anew([rows(held, vectors(max(held)))]), of(1))


def own(held: dict[int, str]) -> KeywordIndex:
    index = KeywordIndex.open(None)
    numbers = np.array(sorted(held), dtype=np.int64)
    index.catch_up(numbers, lambda some: [(n, held[n]) for n in some], Stamp("tests", 1))
    return index


def agree(one: LexicalIndex, other: LexicalIndex, *, within: float) -> None:
    assert one.documents == other.documents
    allowed = np.arange(1, 200, 3, dtype=np.int64)
    for text in QUERIES:
        query, same = one.query(text), other.query(text)
        assert query.terms == same.terms, text
        assert [each.document_frequency for each in query.identifiers] == [
            each.document_frequency for each in same.identifiers
        ], text
        for filter in (None, allowed, allowed[:5]):
            found, wanted = one.search(query, 400, filter), other.search(same, 400, filter)
            assert {hit.number for hit in found} == {hit.number for hit in wanted}, text
            scores = {hit.number: hit.score for hit in wanted}
            # Lance holds the length of a text's identifiers against those of texts that have any.
            for hit in found if not query.identifiers else ():
                assert hit.score == pytest.approx(scores[hit.number], rel=within), (text, hit)
            exact = {hit.number: hit.exact for hit in wanted}
            assert {hit.number: hit.exact for hit in found} == pytest.approx(exact)
        for term in query.terms:
            got, true = one.postings(term.text, 1000), other.postings(term.text, 1000)
            assert sorted(got.numbers.tolist()) == sorted(true.numbers.tolist())
            got, true = one.openings(term.text, 1000), other.openings(term.text, 1000)
            assert sorted(got.numbers.tolist()) == sorted(true.numbers.tolist())
    assert dict(one.vocabulary()) == dict(other.vocabulary())


def test_a_built_index_finds_and_scores_as_the_own_one_does(tmp_path: Path) -> None:
    held = texts(300)
    agree(LanceWords(built(tmp_path, held)), own(held), within=WITHIN)


def test_what_came_since_is_scored_as_if_it_had_been_built(tmp_path: Path) -> None:
    held = texts(300)
    before = LanceWords(built(tmp_path, {n: text for n, text in held.items() if n <= 240}))
    since = own({n: text for n, text in held.items() if n > 240})
    agree(JoinedWords(before, since, np.zeros(0, np.int64)), own(held), within=0.1)


def test_what_is_gone_is_not_found_and_leaves_no_hole(tmp_path: Path) -> None:
    held = texts(60)
    gone = np.array([n for n in held if "valve" in held[n]][:8], dtype=np.int64)
    joined = JoinedWords(LanceWords(built(tmp_path, held)), own({61: "a valve"}), gone)
    found = {hit.number for hit in joined.search(joined.query("valve"), 100)}
    assert found == {n for n in held if "valve" in held[n]} - set(gone.tolist()) | {61}
    assert len(joined.search(joined.query("valve"), 5)) == 5


def test_a_build_from_the_version_before_is_the_one_made_anew(tmp_path: Path) -> None:
    held = texts(120)
    before = built(tmp_path / "one", {n: text for n, text in held.items() if n <= 100})
    changed = {n: text for n, text in held.items() if n > 90}
    build = DatasetBuild(str(tmp_path / "one"), DIMENSION, 10**9)
    gone = np.array([3, 5], dtype=np.int64)
    made = build.from_before(before, [rows(changed, vectors(120))], np.arange(91, 121), gone, compact=True)
    after = build.finish(made, of(2))
    left = {n: text for n, text in held.items() if n not in (3, 5)}
    true = built(tmp_path / "two", left)
    assert after.numbers.tolist() == true.numbers.tolist()
    assert dict(after.terms) == dict(true.terms)
    for one, other in zip(after.moments, true.moments, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    agree(LanceWords(after), own(left), within=WITHIN)


def test_cosines_are_exact_and_near_ones_are_found_beside_an_index_of_partitions(tmp_path: Path) -> None:
    held, matrix = texts(600), vectors(600)
    whole, parted = (
        VectorIndex(DIMENSION, base_of(built(tmp_path / name, held, least)))
        for name, least in (("whole", 10**9), ("parted", 100))
    )
    assert parted.approximate and not whole.approximate
    true = VectorIndex(DIMENSION)
    true.add(np.arange(1, 601), matrix)
    for index in (whole, parted):
        index.remove([7])
        index.add([601], matrix[:1])
    true.remove([7])
    true.add([601], matrix[:1])
    for query in matrix[:20]:
        assert whole.search(query, 10) == true.search(query, 10)
        asked, wanted = parted.compare(query), true.compare(query)
        assert asked.best(10) == wanted.best(10)
        assert asked.spread == pytest.approx(wanted.spread, abs=1e-4)
        assert asked.of([7, 9, 601]) == pytest.approx(wanted.of([7, 9, 601]), abs=1e-4)
        assert asked.nearer(0.5) == wanted.nearer(0.5)
    near, exact = (index.nearest(matrix[:5], 4, floor=0.1) for index in (parted, true))
    assert near.rows.tolist() == exact.rows.tolist()


def test_a_second_build_that_began_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    before = built(tmp_path, texts(50))
    first, second = (DatasetBuild(str(tmp_path), DIMENSION, 10**9) for _ in range(2))
    none = np.zeros(0, np.int64)
    slow = first.from_before(before, [], none, none, compact=False)
    quick = second.from_before(before, [], none, none, compact=False)
    with pytest.raises(StoreError, match="Another build"):
        first.finish(slow, of(2))
    assert second.finish(quick, of(3)).built.structure == 3


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("s3://key:secret@bucket/x", "holds a password"),
        ("gs://bucket/x", "No index can lie at gs://bucket/x"),
        ("s3://", "No index can lie at s3://"),
    ],
)
def test_an_address_that_cannot_be_is_refused_and_a_password_not_repeated(where: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        place(where)
    assert "secret" not in str(refused.value)
