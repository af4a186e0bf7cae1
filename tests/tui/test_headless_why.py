"""`why` on the command line: what fell out where, as a table and as JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.color import Color
from rich.console import Console

from amgs.types import Block, Explanation, LayerVerdict, Weights
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import page_of
from amgs_app.shell.output import as_text
from amgs_app.terminal.themes import Palette
from tests.tui.headless_world import Amgs


def test_why_gives_the_gap_and_the_weights_that_close_it(amgs: Amgs) -> None:
    assert amgs("why", "dome encoder stalled", "stall.md", "--limit", "1", "--format", "json") == 0
    first = json.loads(amgs.out)
    assert amgs("why", "dome encoder stalled", "motor.md", "--limit", "1", "--format", "json") == 0
    second = json.loads(amgs.out)
    lost = first if first["fell_at"] else second
    assert lost["fell_at"] == "score"
    assert lost["by"] == pytest.approx(lost["needed"] - lost["score"], rel=1e-3)
    if lost["change"] is not None:
        assert sum(lost["change"]["weights"].values()) == pytest.approx(1.0, abs=1e-4)
        assert lost["change"]["rank"] == 1


def test_why_of_a_block_over_budget_names_a_budget_that_takes_it(amgs: Amgs) -> None:
    asked = ("dome encoder stalled", "--budget")
    assert amgs("frame", "assemble", "ATTENTION", "--query", *asked, "50", "--format", "json") == 0
    over = [c["block"]["id"] for c in json.loads(amgs.out)["candidates"] if c["fate"] == "over_budget"]
    assert over
    assert amgs("why", asked[0], over[0], "--frame", "ATTENTION", "--budget", "50") == 0
    assert "fuzzy      skipped" in amgs.out and "no change of weights" not in amgs.out
    (more,) = re.findall(r"^(\d+) more tokens? in the budget would admit it", amgs.out, re.MULTILINE)
    for least, said in ((int(more) - 1, "over budget"), (int(more), "admitted for")):
        assert amgs("why", asked[0], over[0], "--frame", "ATTENTION", "--budget", str(50 + least)) == 0
        assert said in amgs.out


@pytest.mark.parametrize("option", ["--similarity-share", "--threshold"])
@pytest.mark.parametrize("frame", ["ATTENTION", "SESSION"])
def test_why_of_a_block_under_a_minimum_of_its_frame_names_the_value_that_admits_it(
    amgs: Amgs, frame: str, option: str
) -> None:
    question = ("dome encoder stalled", "--frame", frame)
    assert amgs("frame", "define", "ATTENTION", option, "0.97") == 0
    assert amgs("frame", "assemble", frame, "--query", question[0], "--format", "json") == 0
    candidates = json.loads(amgs.out)["candidates"]
    out = [c["block"]["id"] for c in candidates if (c["fate"], c["child"]) == ("below_threshold", "ATTENTION")]
    assert out
    assert amgs("why", question[0], out[0], *question[1:], "--child", "ATTENTION") == 0
    assert f"not its weights keep it out, but ATTENTION's `{option}` of 0.97" in amgs.out
    assert "no change of weights" not in amgs.out
    (command,) = re.findall(r"`(frame define [^`]*)` would admit it", amgs.out)
    value = float(command.split()[-1])
    for least, told in ((value + 0.02, " under "), (value, "admitted for")):
        assert amgs(*command.split()[:-1], f"{least:.2f}") == 0
        assert amgs("why", question[0], out[0], *question[1:], "--child", "ATTENTION") == 0
        assert told in amgs.out


def test_what_a_layer_said_is_a_coloured_sign_and_the_same_one_everywhere() -> None:
    at = datetime(2026, 2, 1, tzinfo=UTC)
    block = Block("a" * 64, "The dome ✓ stood still.", at, at)
    layers = (
        LayerVerdict("keyword", "passed", 0.5, 0.1, "it holds ✓"),
        LayerVerdict("fuzzy", "skipped", None, None, "no typo"),
        LayerVerdict("score", "missed", 0.1, 0.2, "rank 9"),
    )
    result = Explanation(
        "dome",
        block,
        "",
        "score",
        "it lacks 0.1",
        0.1,
        9,
        9,
        5,
        0.1,
        0.2,
        None,
        layers,
        Weights(0.2, 0.2, 0.2, 0.2, 0.2),
    )
    text = as_text(result, width=100, colour=True)
    assert text.count("\x1b[32m✓") == text.count("\x1b[31m✗") == 1, "only a sign of its own has a colour"
    palette = Palette()
    console = Console(file=StringIO(), width=100)
    page = page_of(result, Canvas(100, 20, palette), at)
    drawn = {each.text.strip(): each.style for each in console.render(page) if each.text.strip() in "✓✗·"}
    for sign, colour in (("✓", palette.good), ("✗", palette.bad), ("·", palette.muted)):
        style = drawn[sign]
        assert style is not None and style.color == Color.parse(colour)


def test_of_an_answer_something_is_said_only_where_such_estimates_were_right(amgs: Amgs, tmp_path: Path) -> None:
    unanswered = "why did the zeppelin land in Kathmandu?"
    assert amgs("search", unanswered) == 0
    assert "answer" not in amgs.out, "the notes are no parts of a document"
    steps = [f"## Step {n}\n\n" + f"Turn the {n}th valve of the boiler by hand. " * 12 for n in range(12)]
    (tmp_path / "manual.md").write_text("\n\n".join(steps), encoding="utf-8")
    assert amgs("ingest", "--file", str(tmp_path / "manual.md")) == 0
    assert amgs("consolidate") == 0
    assert amgs("search", "which valve of the boiler is turned by hand?") == 0
    assert "an answer is likely in memory (estimated)" in amgs.out
    assert "%" not in amgs.out.split("an answer is likely")[1]
