"""The language of one line: what is quoted is read back, and errors point at their column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.terminal.line import LineError, quote, split


@given(st.lists(st.text()))
def test_quoted_words_come_back_whatever_they_hold(words: list[str]) -> None:
    assert split(" ".join(map(quote, words))) == words


@given(st.text())
def test_a_quoted_word_never_breaks_the_line(text: str) -> None:
    assert "\n" not in quote(text)
    assert "\r" not in quote(text)


@given(st.text(alphabet=st.sampled_from("ab \"'\\#\t-")))
def test_any_line_is_split_or_refused_with_a_column_inside_it(line: str) -> None:
    try:
        words = split(line)
    except LineError as error:
        assert line[error.column - 1] in "\"'"
    else:
        assert all(line[word.column - 1] not in " \t" for word in words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("   ", []),
        ("# a comment", []),
        ("search dome # why", ["search", "dome"]),
        ("search a#b", ["search", "a#b"]),
        ('search \'it is\' "so \\"here\\""', ["search", "it is", 'so "here"']),
        ("search it\\'s\\ so", ["search", "it's so"]),
        ('search ""', ["search", ""]),
        ("search 'a'\"b\"c", ["search", "abc"]),
        (r'ingest "two\nlines, one \d backslash"', ["ingest", "two\nlines, one \\d backslash"]),
    ],
)
def test_words_are_parted_as_a_reader_expects(line: str, words: list[str]) -> None:
    assert split(line) == words


def test_words_remember_their_columns() -> None:
    assert [word.column for word in split("frame  assemble 'a b' x")] == [1, 8, 17, 23]


def test_an_open_quote_is_pointed_at() -> None:
    with pytest.raises(LineError) as caught:
        split('search "dome motor')
    assert caught.value.column == 8
    assert caught.value.exit_code == 2
