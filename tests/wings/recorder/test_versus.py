"""Memories compared on the same questions, and the controls beside them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from amgs.errors import AmgsError
from amgs.text.embedding import HashingEmbedder
from amgs.types.question_case import QuestionCase
from amgs.wings.recorder.contenders import contender
from amgs.wings.recorder.foreign_memory import memory_of
from amgs.wings.recorder.versus import Contender, compare, controls
from amgs_tui.__main__ import run
from tests.wings.recorder.spans_of import SpanWorld

BEDS = "The beds are watered every 9 hours."
GATE = "Valve 3 is beside the garden gate."
FILLER = [f"Something about topic {word}." for word in ("oak", "elm", "ash", "fir", "yew", "box")]
CASES = (
    QuestionCase("when are the beds watered?", ("every 9 hours",)),
    QuestionCase("where is valve 3?", ("garden gate", "valve 3")),
)


def asked(given: str, question: str, texts: Sequence[str] = (BEDS, GATE, *FILLER)) -> Sequence[str]:
    world = SpanWorld()
    world.search("When are the  beds watered?", [("m1", BEDS, 0.8)])
    embedder = HashingEmbedder()
    with ExitStack() as held:
        one = contender(
            given,
            texts,
            amgs=lambda _: [GATE],
            embed=embedder.embed,
            dimension=embedder.dimension,
            recorded=lambda: memory_of(world.spans),
            held=held,
        )
        return one.ask(question)


def test_what_is_held_within_the_budget_counts_and_nothing_else() -> None:
    best = Contender("best", lambda question: [BEDS if "beds" in question else GATE])
    late = Contender("late", lambda _: [*FILLER, BEDS])
    part = Contender("part", lambda _: ["Valve 3 leaks."])
    scores = compare(CASES, [best, late, part], budget=20)
    assert [(one.held, one.evidence, one.better, one.worse) for one in scores] == [
        (2, 1.0, 0, 0),
        (0, 0.0, 0, 2),
        (0, 0.25, 0, 2),
    ]
    assert [one.held for one in compare(CASES, [late, best], budget=1, top=7)] == [1, 2]
    assert scores[0].low < 1.0 == scores[0].high


def test_what_a_question_needs_is_counted_up_to_the_last_fact() -> None:
    (one,) = compare(CASES, [Contender("one", lambda _: ["Valve 3.", BEDS, GATE])], budget=1)
    assert one.needed[0] is not None and one.needed[1] is not None and one.needed[0] < one.needed[1]


def test_what_must_not_be_there_is_a_fault() -> None:
    case = QuestionCase("beds?", must_not_contain=("8 hours",))
    (one,) = compare([case], [Contender("old", lambda _: ["every 8 hours"])], budget=100)
    assert one.held == 0


def test_controls_are_words_chance_and_everything_and_the_budget_binds_the_first_two() -> None:
    scores = {one.name: one for one in compare(CASES, controls([*FILLER, BEDS, GATE], 7), budget=10)}
    assert scores["BM25"].held == scores["everything"].held == 2
    assert scores["everything"].tokens > 10 >= max(scores["BM25"].tokens, scores["random"].tokens)
    assert all(one.control for one in scores.values())


@pytest.mark.parametrize("given", ["plain-files", "langgraph", "recorded", "mine", "kept"])
def test_each_memory_that_can_be_asked_gives_its_best_text_first(given: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("\n\n".join([*FILLER, BEDS, GATE]))
    (tmp_path / "kept.jsonl").write_text(
        json.dumps({"question": "when are the beds watered?", "texts": [BEDS, 3]})
    )
    (tmp_path / "mine.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    print(json.dumps({{'texts': [{BEDS!r}, json.loads(line)['question']]}}), flush=True)\n"
    )
    forms = {
        "plain-files": f"plain-files={tmp_path}",
        "mine": f"mine={sys.executable} {tmp_path / 'mine.py'}",
        "kept": f"kept={tmp_path / 'kept.jsonl'}",
    }
    assert asked(forms.get(given, given), "when are the beds watered?")[0] == BEDS
    assert asked("amgs", "?") == [GATE]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("nobody", "is no memory that can be asked"),
        ("plain-files=/nowhere/at/all", "cannot be read"),
        ("a=/nowhere/a.jsonl", "cannot be read"),
        ("a=/nowhere/program", "cannot be started"),
        ("a=true", "gave no line of JSON"),
        ("mem0=x", "cannot be started"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(given: str, says: str) -> None:
    with pytest.raises(AmgsError, match=says):
        asked(given, "when?")


def test_the_command_compares_and_names_what_no_memory_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    store = ["--store", str(tmp_path / "m.duckdb"), "--model", "tiny"]
    for text in (BEDS, GATE):
        assert run([*store, "ingest", text]) == 0
    assert run([*store, "consolidate"]) == 0
    questions = tmp_path / "questions.yml"
    questions.write_text(
        '- {question: "when are the beds watered?", must_contain: [every 9 hours]}\n'
        '- {question: "who plants roses?", must_contain: [roses]}\n'
    )
    capsys.readouterr()
    assert run([*store, "versus", str(questions), "--with", "amgs", "--with", "langgraph"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()[2:7]] == [
        "amgs",
        "langgraph",
        "(BM25)",
        "(random)",
        "(everything)",
    ]
    assert "no memory held: who plants roses?" in shown
    (tmp_path / "none.yml").write_text("[]")
    assert run([*store, "versus", str(tmp_path / "none.yml")]) == 3
