"""The language of one line: what is quoted is read back, and errors point at their column."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amgs_app.terminal.line import LineError, quote, split


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
