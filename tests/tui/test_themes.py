"""Themes: gaps are filled, broken files are named and skipped, the ramps stay in order for every eye."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from amgs_app.render.figures.canvas import Canvas, Figure, ink
from amgs_app.terminal.themes import (
    DEFAULT_THEME,
    PAPER,
    READABLE,
    Palette,
    ThemeError,
    blend,
    contrast,
    explain,
    load,
    load_all,
    rgb,
    shipped_folder,
    to_textual,
)

SHIPPED, PROBLEMS = load_all([shipped_folder()])


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_what_ships_loads_without_a_problem() -> None:
    assert PROBLEMS == ()
    assert len(SHIPPED) >= 4
    assert DEFAULT_THEME in SHIPPED
    assert sum(palette.dark for palette in SHIPPED.values()) >= 2
    assert any(not palette.dark for palette in SHIPPED.values())
    assert any(palette.monochrome for palette in SHIPPED.values())


def luminance(colour: str) -> float:
    """Perceived lightness in [0, 1] (Rec. 709 weights on the coded values; enough to order colours)."""
    red, green, blue = rgb(colour)
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_levels_of_detail_run_in_lightness_away_from_the_background(name: str) -> None:
    palette = SHIPPED[name]
    ramp = [abs(luminance(palette.lod(level)) - luminance(palette.background)) for level in range(5)]
    assert ramp == sorted(ramp, reverse=True)
    assert all(a - b > 0.04 for a, b in pairwise(ramp))
    assert palette.lod(9) == palette.lod4


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_text_can_be_read_on_everything_it_lies_on(name: str) -> None:
    palette = SHIPPED[name]
    inks = {ink: getattr(palette, ink) for ink in ("text", "muted", "accent", "good", "warn", "bad")}
    inks |= palette.relations
    for under in ("background", "surface", "panel", "selection"):
        ground = getattr(palette, under)
        # On the selection, and red on the panel that only lines of words lie on, a colour may give way to the text's.
        told = inks
        if under == "selection":
            told = {ink: palette.readable(colour, ground) for ink, colour in inks.items()}
        elif under == "panel":
            told = {ink: inks[ink] for ink in ("text", "muted", "accent", "good", "warn")}
            told["bad"] = to_textual(palette).variables["bad-on-panel"]
        weak = {
            ink: contrast(colour, ground)
            for ink, colour in told.items()
            if contrast(colour, ground) < READABLE
        }
        assert not weak, under
    for level in range(5):
        colour = palette.lod(level)
        assert contrast(palette.on(colour), colour) >= READABLE


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#123456", "#123456") == 1


def test_what_cannot_be_read_on_the_selection_takes_the_colour_of_the_text() -> None:
    palette = SHIPPED["sixteen"]
    line = Figure(Canvas(5, 1, palette))
    line.put(0, 0, "red·▇", ink(palette.bad))
    line.shade(0, palette.selection)
    assert line.colour_at(0, 0) == palette.text
    assert line.colour_at(4, 0) == palette.bad  # a bar keeps the colour that it has everywhere


@pytest.mark.parametrize("name", sorted(name for name, palette in SHIPPED.items() if not palette.monochrome))
def test_the_ends_of_the_heat_ramp_differ_in_blue_which_every_colour_blind_eye_sees(name: str) -> None:
    low, high = rgb(SHIPPED[name].heat_low), rgb(SHIPPED[name].heat_high)
    assert low[2] - low[0] > 40
    assert high[0] - high[2] > 80


def test_heat_is_diverging_and_clipped() -> None:
    palette = Palette()
    assert palette.heat(0.0) == palette.heat_mid
    assert palette.heat(5.0) == palette.heat_high
    assert palette.heat(-1.0) == palette.heat_low
    assert blend("#000000", "#ffffff", 0.5) == "#808080"


def test_a_theme_may_leave_out_everything(tmp_path: Path) -> None:
    dark = load(_write(tmp_path, "night.toml", ""))
    light = load(_write(tmp_path, "day.toml", 'dark = false\n[colours]\naccent = "#123456"\n'))
    assert (dark.name, dark.background) == ("night", Palette().background)
    assert (light.name, light.background, light.accent) == ("day", PAPER.background, "#123456")


def test_a_relation_keeps_its_colour_and_an_unknown_one_always_gets_the_same(tmp_path: Path) -> None:
    theme = load(_write(tmp_path, "x.toml", '[relations]\nrelated = "#010203"\nmine = "#040506"\n'))
    assert theme.relation("related") == "#010203"
    assert theme.relation("mine") == "#040506"
    assert theme.relation("next") == Palette().relation("next")
    assert theme.relation("never heard of") == theme.relation("never heard of")
    assert theme.relation("never heard of") in theme.relations.values()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = [", "is not TOML"),
        ('[colours]\nbakground = "#000000"', "[colours] `bakground` is unknown"),
        ('[colours]\ntext = "red"', "`text` is 'red', not a colour"),
        ("[lod]\n0 = 7", "`0` is 7, not a colour"),
        ('[lod]\n7 = "#000000"', "[lod] `7` is unknown"),
        ("dark = 1", "`dark` must be true or false"),
        ('name = ""', "`name` must be a text"),
        ("heat = 3", "`heat` must be a table"),
        ("fonts = 3", "`fonts` is unknown"),
    ],
)
def test_a_broken_theme_is_named_with_its_fault(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ThemeError) as caught:
        load(_write(tmp_path, "bad.toml", text))
    assert "bad.toml" in str(caught.value)
    assert told in str(caught.value)


def test_broken_files_are_gathered_and_the_rest_still_works(tmp_path: Path) -> None:
    _write(tmp_path, "a.toml", "name = [")
    _write(tmp_path, "b.toml", 'name = "mine"')
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "d.toml").mkdir()
    palettes, problems = load_all([tmp_path, tmp_path / "nowhere"])
    assert set(palettes) == {DEFAULT_THEME, "mine"}
    assert [problem.path.name for problem in problems] == ["a.toml", "c.toml", "d.toml"]
    message = explain(problems)
    assert message.startswith("3 theme files were skipped.")
    assert all(name in message for name in ("a.toml", "c.toml", "d.toml"))
    assert explain(()) == ""


def test_a_later_folder_replaces_a_theme_of_the_same_name(tmp_path: Path) -> None:
    _write(tmp_path, "mine.toml", f'name = "{DEFAULT_THEME}"\n[colours]\naccent = "#aabbcc"\n')
    palettes, _ = load_all([shipped_folder(), tmp_path])
    assert palettes[DEFAULT_THEME].accent == "#aabbcc"


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_palette_becomes_a_textual_theme(name: str) -> None:
    palette = SHIPPED[name]
    theme = to_textual(palette)
    assert (theme.name, theme.background, theme.dark) == (name, palette.background, palette.dark)
    assert theme.variables["lod0"] == palette.lod0
    assert theme.variables["part-recency"] == palette.part_recency
    assert theme.to_color_system().generate()["background"].lower() == palette.background


def test_the_export_theme_has_the_palettes_ground() -> None:
    theme = PAPER.terminal_theme()
    assert theme.background_color == rgb(PAPER.background)
    assert theme.foreground_color == rgb(PAPER.text)


def test_all_colours_are_colours() -> None:
    for palette in SHIPPED.values():
        for item in fields(palette):
            value = getattr(palette, item.name)
            if isinstance(value, str) and item.name not in {"name", "title"}:
                assert len(rgb(value)) == 3


def test_figures_and_themes_load_neither_textual_nor_plotext_nor_torch() -> None:
    code = (
        "import sys, pkgutil, importlib, amgs_app.terminal.themes, amgs_app.render.figures as p\n"
        "[importlib.import_module('amgs_app.render.figures.' + m.name) for m in pkgutil.iter_modules(p.__path__)]\n"
        "print([m for m in ('textual', 'plotext', 'torch', 'duckdb', 'networkx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
