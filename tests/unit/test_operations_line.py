"""The language of one line: what is quoted is read back, and errors point at their column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.types import Weights
from amgs_app.calls.marks import read_weights
from amgs_app.calls.registry import standard
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


def test_keys_and_values_give_what_the_model_of_the_command_takes() -> None:
    call = standard().parse("simulate change=insert pace=1 pace=3 draws=3 text=a=b")
    assert call == standard().parse('simulate insert text="a=b" draws=3 pace=1 pace=3')
    assert call is not None and standard().parse(call.line()) == call
    assert (call.arguments["text"], call.arguments["pace"], call.arguments["draws"]) == ("a=b", [1.0, 3.0], 3)
    call = standard().parse("frame define P weights.recency=.3 weights.similarity=.4 self-only=no")
    assert call is not None and call.arguments["weights"] == "recency=.3,similarity=.4"
    assert call.arguments["self_only"] is False
    start = Weights(0.4, 0.125, 0.125, 0.225, 0.125)
    assert read_weights("recency=.3,similarity=.4", start) == Weights(0.3, 0.1, 0.1, 0.4, 0.1)


@pytest.mark.parametrize(
    ("line", "says", "column"),
    [
        ("frame define P budgt=8", "There is no key 'budgt'; did you mean budget?", 16),
        ("frame define P budget=0", "budget takes a whole number of 1 or more, not '0'.", 16),
        ("frame define P budget=3 budget=4", "budget is given twice.", 25),
        ("frame define P weights=.2,.2,.2,.2,.2 weights.recency=.4", "weights is given twice.", 39),
        ("frame define P threshold=2", "threshold takes a number from 0 to 1, not '2'.", 16),
        ("frame define P dedup=nan", "dedup takes a number from 0 to 1, not 'nan'.", 16),
        ("frame define P gather=all", "gather takes one of query, known, task, filter, identity, not 'all'.", 16),
        ("frame define P weights.recncy=.2", "There is no part of weights 'recncy'; did you mean recency?", 16),
        ("frame define P --budget-strategy static", "`--budget-strategy static` is now `budget_strategy=static`.", 16),
        ("frame define P --from=TASK", "`--from=TASK` is now `from=TASK`.", 16),
        ("simulate decay --bugdet 8", "There is no option 'bugdet'.", 16),
        ("simulate decay a b", "Too many words: b.", 18),
        ("simulate decay days=inf", "days takes a number, not 'inf'.", 16),
        ("tune TASK", "questions=FILE is missing.", 10),
    ],
)
def test_what_a_pair_cannot_set_is_one_sentence(line: str, says: str, column: int) -> None:
    with pytest.raises(LineError) as refused:
        standard().parse(line)
    assert (refused.value.message, refused.value.column) == (says, column)
