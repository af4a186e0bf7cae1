"""`why` on the command line: what fell out where, as a table and as JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.color import Color
from rich.console import Console

from amgs.types import Block, Explanation, LayerVerdict, Weights
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import page_of
from amgs_app.shell.output import as_text
from amgs_app.terminal.themes import Palette
from tests.tui.headless_world import Amgs


@pytest.mark.parametrize("key", ["similarity_share", "threshold"])
@pytest.mark.parametrize("frame", ["ATTENTION", "SESSION"])
def test_why_of_a_block_under_a_minimum_of_its_frame_names_the_value_that_admits_it(
    amgs: Amgs, frame: str, key: str
) -> None:
    question = ("dome encoder stalled", "--frame", frame)
    assert amgs("frame", "define", "ATTENTION", f"{key}=0.97") == 0
    assert amgs("frame", "assemble", frame, "--query", question[0], "--format", "json") == 0
    candidates = json.loads(amgs.out)["candidates"]
    out = [c["block"]["id"] for c in candidates if (c["fate"], c["child"]) == ("below_threshold", "ATTENTION")]
    assert out
    assert amgs("why", question[0], out[0], *question[1:], "--child", "ATTENTION") == 0
    assert f"not its weights keep it out, but ATTENTION's `{key}` of 0.97" in amgs.out
    assert "no change of weights" not in amgs.out
    (command,) = re.findall(r"`(frame define [^`]*)` would admit it", amgs.out)
    value = float(command.rpartition("=")[2])
    for least, told in ((value + 0.02, " under "), (value, "admitted for")):
        assert amgs(*command.split()[:-1], f"{key}={least:.2f}") == 0
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
