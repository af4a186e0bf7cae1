"""No text of a note, a name, an argument or an error steers the terminal, whichever way it leaves the program."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from amgs.errors import AmgsError
from amgs_app.calls.registry import standard
from amgs_app.render.canvas import Canvas, Figure, clean
from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from amgs_app.render.glyphs import wrap
from amgs_app.render.sheet import to_lines
from amgs_app.results.session import Shown
from amgs_app.shell.output import as_text, complain, progress_on
from amgs_app.shell.script import parse_step
from amgs_app.terminal.output import UNSAFE, printable, printable_line
from tests.tui.poison import made
from tests.tui.real_world import on_session, options
from tests.tui.result_types import every_type

HOSTILE = "\x1b[31mred\x1b]0;owned\x07 \x9b31m \u202eback [red]old[/red] \x1b]8;;http://x\x1b\\link \x7f\x00"
CONTROLS = "\x00\x07\x08\x0b\x0d\x1b\x7f\x85\x9b\u202a\u202e\u2066\u2069\ud800\udcff"
TEXTS = st.text(st.sampled_from(CONTROLS) | st.characters(codec="utf-8") | st.sampled_from("[]/ \n\ta漢"))


def kinds() -> list[type]:
    """Every type of result but that of `show`, which is that of what it shows."""
    return [kind for kind in every_type() if kind is not Shown]


@given(TEXTS)
@example(HOSTILE)
def test_what_steers_a_terminal_is_written_out_and_all_else_stays(text: str) -> None:
    shown = printable(text)
    assert UNSAFE.search(shown) is None
    assert printable(shown) == shown
    assert (shown == text) == (UNSAFE.search(text) is None)
    assert not {"\n", "\t"} & set(printable_line(text))


def test_control_characters_are_shown_as_python_writes_them() -> None:
    assert printable("a\x1b[31m\x9b\u202eb\ud800\n\tc") == "a\\x1b[31m\\x9b\\u202eb\\ud800\n\tc"


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
@settings(max_examples=12)
@given(text=TEXTS)
@example(HOSTILE)
def test_no_result_carries_a_control_sequence_to_the_terminal(kind: type, text: str) -> None:
    result = made(kind, text)
    for form in ("table", "csv"):
        assert UNSAFE.search(as_text(result, form, width=60)) is None
    coloured = Console(file=io.StringIO(), width=60, force_terminal=False)
    for line in to_lines(table_of(result), 60):
        assert UNSAFE.search(line.plain) is None
        coloured.print(line)
    written = to_json(result)
    assert UNSAFE.search(written) is None
    json.loads(written)


@given(TEXTS, TEXTS)
@example(HOSTILE, HOSTILE)
def test_no_error_carries_a_control_sequence_to_the_terminal(text: str, other: str) -> None:
    error = AmgsError(text, way_out=other, title=text)
    out = io.StringIO()
    complain(error, out)
    assert UNSAFE.search(out.getvalue()) is None


@given(TEXTS)
@example(HOSTILE)
@example("\x1b[31m wrong word")
def test_the_pointer_of_an_error_stands_under_the_word(line: str) -> None:
    try:
        parse_step(standard(), line, line[:20], 1)
    except AmgsError as error:
        out = io.StringIO()
        complain(error, out)
        assert UNSAFE.search(out.getvalue()) is None
        *_, shown, arrow = str(getattr(error, "pointer", "\n")).split("\n")
        assert len(arrow) <= len(shown) + 1


@given(TEXTS)
@example(HOSTILE)
def test_a_picture_keeps_its_shape_and_holds_no_control_sequence(text: str) -> None:
    sheet = Figure(Canvas(30, 6))
    sheet.put(2, 0, text)
    sheet.put(2, 1, text, width=12, align="right")
    sheet.pieces(0, 2, [(text, None), (text, None)], width=20)
    sheet.rule(3, text, text)
    sheet.put(0, 4, clean(text))
    for row, line in enumerate(wrap(text, 20, 2)):
        sheet.put(0, 4 + row, line)
    picture = sheet.render().plain
    assert UNSAFE.search(picture) is None
    assert [cell_len(line) for line in picture.split("\n")] == [30] * 6


def test_the_progress_bar_shows_what_is_done_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    with progress_on(out) as progress:
        progress(1, 2, "reading \x1b]0;owned\x07[red]x.md")
    assert "\x1b]0;" not in out.getvalue()
    assert "\x07" not in out.getvalue()


# --- on the real engines ----------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Notes whose title, text and file name hold control sequences."""
    folder = tmp_path / "notes"
    folder.mkdir()
    body = f"# Boiler {HOSTILE}\nThe boiler valve is [red]old[/red] {HOSTILE}.\n".replace("\x00", "")
    (folder / "a\x1b[31m[b].md").write_text(f"---\ndate: 2026-02-20\n---\n{body}")
    (folder / "b.md").write_text("---\ndate: 2026-02-21\n---\n# Night\nThe boiler stood still.\n")
    return folder


async def test_the_screen_shows_brackets_and_drops_nothing_raw(tmp_path: Path, notes: Path) -> None:
    from amgs_app.engine import Engine
    from amgs_app.session import Operator

    def make() -> Operator:
        return Operator(Engine(options(tmp_path / "store.duckdb", notes)))

    async with on_session(make, (120, 40)) as driven:
        seen = []

        async def look() -> None:
            assert all(UNSAFE.search(line) is None for line in driven.lines)
            seen.append(driven.text)

        await driven.press("2", "1")
        await look()
        await driven.press("c")
        await look()
        for key in ("2", "3", "4", "5", "7", "/"):
            await driven.press(key)
            await look()
        await driven.type("boiler")
        await look()
        await driven.press("escape", "enter")
        await look()
        await driven.press("escape", ":")
        await driven.type("search \x1b]0;owned\x07[red]x[/red]", "enter")
        await look()
        await driven.press(":")
        await driven.type("block show \x1b[31m[red]none", "enter")
        await look()
    everything = "\n".join(seen)
    assert "[red]" in everything
    assert "\\x1b" in everything
