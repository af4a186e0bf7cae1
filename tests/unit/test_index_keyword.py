"""The keyword index finds every exact token, survives any query, and stays true to the store."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from amgs.index import keyword
from amgs.index.arrays import Stamp
from amgs.index.keyword import Contents, KeywordIndex
from amgs.index.terms import identifiers
from amgs.text.words import remove_spaceless

TEXTS = {
    1: "The boiler valve part number is QX-7741-B and it was replaced in March.",
    2: "My grandmother baked rye bread every Sunday morning.",
    3: "Firmware v2.3.1 of the router drops packets when it rains; v2.3.10 does not.",
    4: "Bread, bread, bread: three loaves for the observers.",
    5: "see https://store.example/parts/QX-7741-C for it",
}


def numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(sorted(values), dtype=np.int64)


def reading(texts: dict[int, str], read: list[int] | None = None) -> Contents:
    def contents(wanted: Sequence[int]) -> Iterable[tuple[int, str]]:
        if read is not None:
            read.extend(wanted)
        return [(n, texts[n]) for n in wanted]

    return contents


def filled(texts: dict[int, str], directory: Path | None = None) -> KeywordIndex:
    index = KeywordIndex.open(directory)
    index.catch_up(numbers(texts), reading(texts), Stamp("s", 1))
    return index


def found(index: KeywordIndex, text: str, limit: int = 10, allowed: Iterable[int] | None = None) -> list[int]:
    hits = index.search(index.query(text), limit, None if allowed is None else numbers(allowed))
    return [hit.number for hit in hits]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("QX-7741-B", 1),
        ("qx-7741-b", 1),
        ("qx7741b", 1),
        ("where is valve (QX-7741-B)?", 1),
        ("v2.3.1", 3),
        ("grandmothers baking", 2),
        ("QX-7741-C", 5),
    ],
)
def test_a_token_finds_its_document_first(query: str, number: int) -> None:
    assert found(filled(TEXTS), query)[0] == number


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("4.7 Security: the server is a credential", []),
        ("what does section 4.7 say?", []),
        ("§ 2.1.3 Retries", []),
        ("0.2.0 release notes", ["0.2.0"]),
        ("does it run on 3.11?", ["3.11"]),
        ("4.7", []),
    ],
)
def test_the_number_of_a_section_is_no_identifier(query: str, named: list[str]) -> None:
    assert [term.identifier.exact for term in filled(TEXTS).query(query).identifiers] == named


def test_an_identifier_is_not_its_prefix() -> None:
    index = filled({1: "Firmware v2.3.1 is old.", 2: "Firmware v2.3.10 is new."})
    exact = {hit.number: hit.exact for hit in index.search(index.query("v2.3.1"), 10)}
    assert exact[1] == pytest.approx(1.0)
    assert exact.get(2, 0.0) == 0.0


def test_only_allowed_documents_are_found_however_many_others_match_better() -> None:
    texts = dict.fromkeys(range(1, 400), "bread")
    texts[400] = "bread is mentioned once in this rather long text about something else altogether"
    assert found(filled(texts), "bread", limit=5, allowed=[400]) == [400]
    assert found(filled(texts), "bread", limit=5, allowed=[]) == []


def test_a_query_of_ten_thousand_words_is_answered_by_its_rarest() -> None:
    index = filled(TEXTS)
    query = " ".join(f"word{n}x" for n in range(10_000)) + " QX-7741-B"
    assert len(index.query(query).terms) <= 128
    assert found(index, "QX-7741-B " + query)[0] == 1


@given(st.text(max_size=80), st.lists(st.text(max_size=60), min_size=1, max_size=4))
@example('?! "unclosed, a AND (b OR content:x^9~ [* TO *]', ["a"])
@example("\x00 \ud800 👍", ["bread"])
def test_no_content_and_no_query_breaks_it(query: str, contents: list[str]) -> None:
    texts = dict(enumerate(contents, start=1))
    index = filled(texts)
    hits = index.search(index.query(query), 10)
    assert {hit.number for hit in hits} <= set(texts)
    assert all(hit.score > 0 and 0 <= hit.exact <= 1 for hit in hits)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["dome", "M31", "C++", "a.b", "(x-1)", "“U.S.”", "f#", "\x1cé-2", "no.", "İx", "3", "_a", "a\u0301b"]
        )
        | st.text(max_size=6),
        max_size=12,
    ),
    st.sampled_from([" ", "", "\n", "\u2003", "/"]),
)
@example(["0\u1780"], " ")
def test_passing_over_plain_words_loses_no_identifier(pieces: list[str], between: str) -> None:
    text = remove_spaceless(between.join(pieces))
    whole = {t for m in re.finditer(r"\w+(?:[-._/:#@+~]\w+)*(?:\+\+|#)?", text.lower()) for t in [m.group()]}
    named = {t for t in whole if re.search(r"[-._/:#@+~]", t) and any(c.isalnum() for c in t)}
    named |= {t for t in whole if any(c.isdigit() for c in t) and any(c.isalpha() for c in t)}
    assert named <= {i.exact for i in identifiers(text)}


# --- derived from the store -------------------------------------------------------------------------------


def test_catching_up_reads_only_what_is_new_and_forgets_what_is_gone() -> None:
    index = filled({1: TEXTS[1], 2: TEXTS[2]})
    read: list[int] = []
    changed = index.catch_up(numbers([2, 3]), reading(TEXTS, read), Stamp("s", 2))
    assert (changed, read) == (2, [3])
    assert found(index, "QX-7741-B") == []
    assert found(index, "router") == [3]
    assert index.numbers.tolist() == [2, 3]


def test_a_sealed_index_opens_without_reading_the_store(tmp_path: Path) -> None:
    filled(TEXTS, tmp_path / "k").close()
    again = KeywordIndex.open(tmp_path / "k")
    read: list[int] = []
    assert again.stamp == Stamp("s", 1)
    assert again.catch_up(numbers(TEXTS), reading(TEXTS, read), Stamp("s", 1)) == 0
    assert read == []
    assert found(again, "QX-7741-B")[0] == 1


@pytest.mark.parametrize("how", ["flip a byte", "cut a file", "no stamp", "other format", "garbage stamp", "no meta"])
def test_a_damaged_index_is_built_anew(tmp_path: Path, how: str) -> None:
    directory = tmp_path / "k"
    filled(TEXTS, directory).close()
    largest = max((p for p in directory.iterdir() if p.suffix == ".term"), key=lambda p: p.stat().st_size)
    stamp = directory / "stamp.json"
    if how == "flip a byte":
        data = bytearray(largest.read_bytes())
        data[len(data) // 2] ^= 0xFF
        largest.write_bytes(data)
    elif how == "cut a file":
        largest.write_bytes(largest.read_bytes()[:10])
    elif how == "no stamp":
        stamp.unlink()
    elif how == "other format":
        stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "format": 0}))
    elif how == "garbage stamp":
        stamp.write_text("[1, 2")
    else:
        (directory / "meta.json").unlink()
    again = KeywordIndex.open(directory)
    assert again.stamp is None
    assert again.catch_up(numbers(TEXTS), reading(TEXTS), Stamp("s", 1)) == len(TEXTS)
    assert found(again, "QX-7741-B")[0] == 1
    again.close()


def test_reading_only_touches_nothing_on_disk(tmp_path: Path) -> None:
    directory = tmp_path / "k"
    assert found(KeywordIndex.open(directory, read_only=True), "bread") == []
    assert not directory.exists()
    filled({1: TEXTS[1]}, directory).close()
    before = {p.name: p.read_bytes() for p in directory.iterdir()}
    reader = KeywordIndex.open(directory, read_only=True)
    reader.catch_up(numbers(TEXTS), reading(TEXTS), Stamp("s", 2))
    assert found(reader, "router")[0] == 3
    reader.close()
    assert {p.name: p.read_bytes() for p in directory.iterdir()} == before


def test_a_directory_that_cannot_be_made_leaves_the_index_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    index = KeywordIndex.open(tmp_path / "file" / "index")
    index.catch_up(np.array([1]), lambda _: [(1, "the kiln door")], Stamp("a store", 1))
    assert [hit.number for hit in index.rank_documents([("kiln", 1.0)], 5)] == [1]
    index.close()


def test_an_index_that_lacks_a_document_is_built_anew_though_its_stamp_fits(tmp_path: Path) -> None:
    texts = {1: "the heron", 2: "the kiln", 3: "the ledger"}
    index = filled(texts, tmp_path)
    index._write_changes(numbers([2]), numbers([]), reading(texts))
    index.close()
    again = KeywordIndex.open(tmp_path)
    assert again.stamp is not None and found(again, "kiln") == []
    again.catch_up(numbers(texts), reading(texts), again.stamp)
    assert found(again, "kiln") == [2] and found(again, "heron") == [1]
    again.close()


def test_what_a_failed_change_had_begun_is_not_in_the_next_one() -> None:
    texts = {1: "the heron", 2: "the kiln"}

    def breaking(wanted: Sequence[int]) -> Iterable[tuple[int, str]]:
        yield 1, texts[1]
        raise KeyError(wanted)

    index = KeywordIndex.open(None)
    with pytest.raises(KeyError):
        index.catch_up(numbers(texts), breaking, Stamp("s", 1))
    index.catch_up(numbers(texts), reading(texts), Stamp("s", 1))
    assert index.documents == 2 and found(index, "heron") == [1]


LANGUAGES = {
    1: "Die Häuser in der Altstadt wurden im letzten Jahr von der Stadt verkauft, und die Mieten sind gestiegen.",
    2: "Nous avons réservé les chambres pour la semaine prochaine, et le petit déjeuner est compris dans le prix.",
    3: "The house in the old town is for sale, and the rent is what it was.",
    4: "この図書館は日曜日に休みですので、月曜日に行ってください。",
}


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("Welches Haus wurde verkauft?", 1),
        ("Haus verkaufen", 1),  # too short to tell its language: looked up as most texts hold it
        ("Avez-vous réservé une chambre ?", 2),
        ("réservations chambre", 2),
        ("Which houses are for sale?", 3),
        ("図書館の休みはいつですか", 4),
    ],
)
def test_a_word_is_found_in_the_forms_of_its_language(query: str, number: int) -> None:
    assert found(filled(LANGUAGES), query)[0] == number


@given(st.lists(st.text(max_size=70) | st.sampled_from(" ".join(LANGUAGES.values()).split()), max_size=8))
@example(["İ" * 20, "a" * 59, "a" * 60, "foo_bar", "", "Häuser", "houses"])
@pytest.mark.parametrize("index", [filled(TEXTS), filled(LANGUAGES)], ids=["English", "languages"])
def test_many_words_are_stemmed_as_each_by_itself(index: KeywordIndex, words: list[str]) -> None:
    index._stemmed.clear()
    together = {word: list(stems) for word, stems in index.stems_of(words).items()}
    index._stemmed.clear()
    assert together == {word: index.stems(word) for word in words}


def test_postings_are_those_of_the_state_that_is_asked_and_the_latest_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyword, "_CACHED_POSTINGS", 2)
    index = filled({1: "The boiler valve.", 2: "Rye bread."})
    before = index.view()
    index.catch_up(numbers([1, 2, 3]), reading({3: "A valve of the router."}), Stamp("s", 2))
    assert sorted(index.postings("valv", 9).numbers.tolist()) == [1, 3]
    assert before.postings("valv", 9).numbers.tolist() == [1]  # asked only now, of what was then
    for term in ("valv", "bread", "valv", "rye"):
        found = index.postings(term, 9)
    assert index.postings("rye", 9) is found
    kept = index.postings("valv", 9)
    index.postings("bread", 9)
    assert index.postings("valv", 9) is kept and index._cached_postings.cache_info().currsize == 2


@pytest.mark.parametrize("query", ["world war", "man page", "cost per unit", "sans serif", "hat size"])
def test_an_english_word_that_is_a_function_word_elsewhere_is_looked_up(query: str) -> None:
    assert len(filled(LANGUAGES).query(query).terms) == len(query.split())


def test_a_line_broken_inside_japanese_is_no_end_of_a_word() -> None:
    assert found(filled({1: "新しい図書\n  館ができた。", 2: "新しい駅ができた。"}), "図書館")[:1] == [1]
