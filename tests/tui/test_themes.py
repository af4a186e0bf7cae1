"""Themes: gaps are filled, broken files are named and skipped, the ramps stay in order for every eye."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.terminal.themes import (
    DEFAULT_THEME,
    READABLE,
    ThemeError,
    contrast,
    explain,
    find_shipped_folder,
    load,
    load_all,
    to_textual,
)

SHIPPED, PROBLEMS = load_all([find_shipped_folder()])


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
        weak = {ink: contrast(colour, ground) for ink, colour in told.items() if contrast(colour, ground) < READABLE}
        assert not weak, under
    for level in range(5):
        colour = palette.lod(level)
        assert contrast(palette.on(colour), colour) >= READABLE


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
