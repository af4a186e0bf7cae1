"""The sheet measures: whatever is drawn, the lines come out whole."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amgs_app.render.canvas import Canvas, Figure, clean, in_ascii, ink
from amgs_app.render.format import age, format_signed, half_life, milliseconds, share, short_count, span
from amgs_app.render.glyphs import apportion
from tests.tui.figure_samples import NOW

ROOT = Path(__file__).parents[2]
ODD = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(st.tuples(st.integers(-5, 40), st.integers(-2, 6), ODD), max_size=8))
def test_lines_have_the_canvas_width_whatever_is_written(writes: list[tuple[int, int, str]]) -> None:
    sheet = Figure(Canvas(30, 4))
    for x, y, text in writes:
        sheet.put(x, y, clean(text), ink("#ffffff"))
    lines = sheet.render().plain.split("\n")
    assert [cell_len(line) for line in lines] == [30] * 4


@given(st.lists(st.tuples(st.integers(0, 25), ODD), max_size=5))
def test_ascii_canvas_gives_ascii_and_the_same_width(writes: list[tuple[int, str]]) -> None:
    sheet = Figure(Canvas(26, 1, symbols="ascii"))
    for x, text in writes:
        sheet.put(x, 0, clean(text))
    plain = sheet.render().plain
    assert plain.isascii()
    assert len(plain) == 26


def test_escape_sequences_in_a_note_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in clean("a \x1b[31mred\x1b[0m note\x07")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(0, 60))
def test_apportioned_cells_add_up(parts: list[float], cells: int) -> None:
    lengths = apportion(parts, cells)
    assert sum(lengths) == (cells if sum(parts) > 0 else 0)
    assert all(length == 0 for length, part in zip(lengths, parts, strict=True) if part == 0)


def test_numbers_read_as_on_an_instrument() -> None:
    assert (share(0.412), share(-0.07), share(1.0), share(-0.001)) == (".41", "−.07", "1.00", ".00")
    assert (format_signed(0.41), format_signed(-0.41)) == ("+.41", "−.41")
    assert (milliseconds(0.0), milliseconds(0.84), milliseconds(93.0), milliseconds(1900)) == (
        "·",
        "0.8 ms",
        "93 ms",
        "1.9 s",
    )
    assert (short_count(412), short_count(18_751), short_count(1_200_000)) == ("412", "18.8k", "1.2M")
    assert (span(5), span(3 * 86400), span(-7200), span(150 * 86400)) == ("5 s", "3 d", "−2 h", "4 mo")
    assert (half_life(0.01), half_life(0.0)) == ("2.9 d", "never")
    assert age(NOW, NOW) == "now"


def test_every_sign_that_the_program_draws_has_one_in_ascii() -> None:
    drawn: dict[str, str] = {}
    for folder in ("amgs_tui", "core/amgs_app/render"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    drawn |= dict.fromkeys(node.value, file.name)
    assert "▾" in drawn and in_ascii("ж") == "?", "signs are found, and what has none is a question mark"
    assert {sign: file for sign, file in drawn.items() if sign != "?" and "?" in in_ascii(sign)} == {}
