"""The recording at the README's top is what the present program does, in a form that players read."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.segment import Segment
from rich.style import Style

from amgs_app.engine import Options
from scripts.cast import cues, record
from scripts.cast_files import Still, animated_svg, asciicast
from tests.engine.memory_world import write_notes

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = (DOCS / "demo.amgs").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def read(text: str) -> tuple[dict[str, Any], list[tuple[float, str, str]]]:
    header, *events = (json.loads(line) for line in text.splitlines())
    return header, [tuple(event) for event in events]


def check_is_asciicast(text: str) -> list[str]:
    """What asciicast v2 asks of a file; gives the texts of its markers."""
    header, events = read(text)
    assert header["version"] == 2 and header["width"] > 0 and header["height"] > 0
    times = [at for at, _, _ in events]
    assert times == sorted(times) and times[0] >= 0
    assert {kind for _, kind, _ in events} == {"o", "m"}
    assert all(isinstance(data, str) and data for _, _, data in events)
    return [data for _, kind, data in events if kind == "m"]


def commands(script: str) -> list[str]:
    return [cue.text for cue in cues(script) if cue.kind == "type"]


def test_the_recording_that_ships_is_of_the_script_and_every_command_in_it_exists() -> None:
    typed = check_is_asciicast((DOCS / "demo.cast").read_text(encoding="utf-8"))
    assert typed == commands(SCRIPT)  # which parses each of them
    assert len(typed) >= 5


def test_the_picture_that_ships_fetches_nothing_and_runs_nothing() -> None:
    text = (DOCS / "demo.svg").read_text(encoding="utf-8")
    assert not re.search(r"<script|url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    ET.fromstring(text)


async def test_a_script_is_typed_into_the_workstation(tmp_path: Path) -> None:
    options = Options(
        store=str(tmp_path / "m.duckdb"),
        corpus=write_notes(tmp_path / "notes"),
        model="tiny",
        now=datetime(2026, 3, 1, 9, tzinfo=UTC),
    )
    script = 'ingest\nconsolidate\n# wait 2\n# press 2\nsearch "dome"\n'
    cast = await record(script, options, (100, 30))
    shown = ["\n".join("".join(s.text for s in row) for row in still.rows) for still in cast.stills]
    assert any(": consol " in text for text in shown)  # half typed
    assert "The inbox is empty" in next(
        text for still, text in zip(cast.stills, shown, strict=True) if still.typed == "consolidate"
    )
    assert check_is_asciicast(asciicast(cast)) == ["ingest", "consolidate", 'search "dome"']
    assert len(ET.fromstring(animated_svg(cast)).findall(f".//{SVG}svg/{SVG}g/{SVG}g")) == len(cast.stills)


def stills(*lines: str) -> tuple[Still, ...]:
    style = Style(color="#ff0000", bold=True)
    return tuple(Still(float(at), ((Segment(line, style),), ())) for at, line in enumerate(lines))
