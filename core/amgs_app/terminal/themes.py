"""Colour palettes: a TOML file per theme, with gaps filled by defaults and broken files reported and skipped.

Figures name meanings, not colours. The shipped ramps (level of detail, heat) vary in lightness as well as hue, so that
they keep their order for colour-blind readers and in print.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.terminal_theme import TerminalTheme

from amgs.errors import AmgsError, InputError
from amgs.incoming import read_toml

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT_THEME = "observatory"
READABLE: Final = 4.5
"""Least contrast between letters and background (WCAG 2.2, level AA)."""
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class ThemeError(AmgsError):
    """A theme file that cannot be used. path: the file."""

    title = "A theme was skipped"
    exit_code = 2

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path.name}: {message}")
        self.path = path


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme by meaning, each `#rrggbb`.

    lod: levels of detail 0 to 4, finest first. heat: low (close), mid, high (open). part: the five parts of a score.
    relations: by relation type. monochrome: colours carry no meaning, so figures use shapes only.
    """

    name: str = DEFAULT_THEME
    title: str = "Observatory"
    dark: bool = True
    monochrome: bool = False
    background: str = "#0e131b"
    surface: str = "#141b26"
    panel: str = "#1d2736"
    selection: str = "#20364f"
    text: str = "#d9e1ec"
    muted: str = "#93a2b6"
    faint: str = "#465468"
    accent: str = "#6cb6ff"
    good: str = "#6fd08c"
    warn: str = "#f0b54a"
    bad: str = "#ff7b72"
    lod0: str = "#ffe94e"
    lod1: str = "#b5a566"
    lod2: str = "#586470"
    lod3: str = "#3a5482"
    lod4: str = "#22365f"
    heat_low: str = "#4aa3ff"
    heat_mid: str = "#39434f"
    heat_high: str = "#ff9d3b"
    part_recency: str = "#f0b54a"
    part_centrality: str = "#b48cf2"
    part_confidence: str = "#6fd08c"
    part_similarity: str = "#6cb6ff"
    part_reinforcement: str = "#ff8fa3"
    relations: Mapping[str, str] = field(
        default_factory=lambda: {
            "links_to": "#6cb6ff",
            "related": "#8fb8a8",
            "next": "#c9b458",
            "mentions": "#b48cf2",
            "derived_from": "#f0b54a",
            "supersedes": "#ff8fa3",
            "contradicts": "#ff7b72",
            "supports": "#6fd08c",
        },
        hash=False,
    )

    def lod(self, level: int) -> str:
        """Return the colour of a level of detail; levels above 4 share a colour."""
        return (self.lod0, self.lod1, self.lod2, self.lod3, self.lod4)[min(max(level, 0), 4)]

    def heat(self, value: float) -> str:
        """Return the colour of a score in [−1, 1]."""
        end = self.heat_high if value >= 0 else self.heat_low
        return blend(self.heat_mid, end, min(1.0, abs(value)))

    def part(self, name: str) -> str:
        """Return the colour of a part of a score (`amgs.types.COMPONENTS`)."""
        return str(getattr(self, f"part_{name}"))

    def relation(self, relation_type: str) -> str:
        """Return the colour of a relation type; an unknown type always gets the same of the known colours."""
        known = self.relations.get(relation_type)
        if known is not None:
            return known
        colours = tuple(self.relations.values()) or (self.accent,)
        return colours[sha256(relation_type.encode()).digest()[0] % len(colours)]

    def fade(self, colour: str, strength: float) -> str:
        """Blend a colour with the background; strength 0 to 1, never below a quarter so that it stays visible."""
        return blend(self.background, colour, 0.25 + 0.75 * min(1.0, max(0.0, strength)))

    def on(self, colour: str) -> str:
        """Return the background or text colour, whichever is more readable on `colour`."""
        return max((self.background, self.text), key=lambda ink: contrast(ink, colour))

    def readable(self, ink: str, under: str) -> str:
        """Return `ink` if letters in it are readable on `under`, else the text colour."""
        return ink if contrast(ink, under) >= READABLE else self.text

    def terminal_theme(self) -> TerminalTheme:
        """Return the palette as Rich's theme for `Console.export_svg`."""
        ansi = (self.panel, self.bad, self.good, self.warn, self.accent, self.part_centrality, self.heat_low, self.text)
        return TerminalTheme(rgb(self.background), rgb(self.text), [rgb(colour) for colour in ansi])


PAPER = Palette(
    name="paper",
    title="Paper",
    dark=False,
    background="#fbf9f3",
    surface="#f4f1e8",
    panel="#eeeade",
    selection="#d9e7f5",
    text="#23282f",
    muted="#5c626a",
    faint="#b3b0a5",
    accent="#0b5cad",
    good="#1b6e37",
    warn="#8a5700",
    bad="#b3261e",
    lod0="#1b2f5b",
    lod1="#4a5f86",
    lod2="#8291a6",
    lod3="#b9b79c",
    lod4="#e6d27a",
    heat_low="#1b64a5",
    heat_mid="#dcd7c9",
    heat_high="#a84704",
    part_recency="#8a5700",
    part_centrality="#7340b0",
    part_confidence="#1b6e37",
    part_similarity="#0b5cad",
    part_reinforcement="#b32d5c",
    relations={
        "links_to": "#0b5cad",
        "related": "#42695d",
        "next": "#6c5f08",
        "mentions": "#7340b0",
        "derived_from": "#8a5700",
        "supersedes": "#b32d5c",
        "contradicts": "#b3261e",
        "supports": "#1b6e37",
    },
)
"""Defaults of a light theme; a dark theme takes those of Palette."""

_GROUPS = {
    "colours": {
        *("background", "surface", "panel", "selection", "text", "muted", "faint", "accent", "good", "warn", "bad")
    },
    "lod": {"0", "1", "2", "3", "4"},
    "heat": {"low", "mid", "high"},
    "parts": {"recency", "centrality", "confidence", "similarity", "reinforcement"},
}
_FIELD_OF = {"colours": "{}", "lod": "lod{}", "heat": "heat_{}", "parts": "part_{}"}


def load_all(folders: Iterable[Path]) -> tuple[dict[str, Palette], tuple[ThemeError, ...]]:
    """Read all `*.toml` of the folders, in order; a later theme replaces an earlier theme of the same name.

    The default theme is always included. A missing folder is no problem.
    """
    default = Palette()
    palettes = {default.name: default}
    problems: list[ThemeError] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                palette = load(path)
            except ThemeError as problem:
                problems.append(problem)
            else:
                palettes[palette.name] = palette
    return palettes, tuple(problems)


def load(path: Path) -> Palette:
    """Read a theme file; raises ThemeError with everything that is wrong with it."""
    try:
        table = read_toml(path, "")
    except InputError as problem:
        raise ThemeError(path, problem.message.removeprefix(f"{path} ")) from problem
    palette_fields, faults = _read(table)
    if faults:
        raise ThemeError(path, "; ".join(faults) + ".")
    base = PAPER if palette_fields.get("dark") is False else Palette()
    relations = {**base.relations, **palette_fields.pop("relations", {})}
    palette_fields.setdefault("name", path.stem)
    palette_fields.setdefault("title", str(palette_fields["name"]).capitalize())
    return replace(base, relations=relations, **palette_fields)


def explain(problems: Iterable[ThemeError]) -> str:
    """Return a message about all skipped files; "" for none."""
    lines = [problem.message for problem in problems]
    if not lines:
        return ""
    head = "1 theme file was skipped." if len(lines) == 1 else f"{len(lines)} theme files were skipped."
    return "\n".join((head, *lines, "The other themes work; correct these or delete them."))


def _read(table: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the palette's fields from a theme's table, and the faults in it."""
    palette_fields: dict[str, Any] = {}
    faults: list[str] = []
    for key, value in table.items():
        if key in {"name", "title"}:
            ok = isinstance(value, str) and bool(value.strip())
            faults += [] if ok else [f"`{key}` must be a text"]
            palette_fields[key] = value
        elif key in {"dark", "monochrome"}:
            faults += [] if isinstance(value, bool) else [f"`{key}` must be true or false"]
            palette_fields[key] = value
        elif key in _GROUPS or key == "relations":
            _read_group(key, value, palette_fields, faults)
        else:
            faults.append(f"`{key}` is unknown")
    return palette_fields, faults


def _read_group(group: str, value: object, palette_fields: dict[str, Any], faults: list[str]) -> None:
    """Read a table of colours into the palette's fields."""
    if not isinstance(value, dict):
        faults.append(f"`{group}` must be a table: [{group}]")
        return
    for key, colour in value.items():
        if group in _GROUPS and key not in _GROUPS[group]:
            faults.append(f"[{group}] `{key}` is unknown")
        elif not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
            faults.append(f"[{group}] `{key}` is {colour!r}, not a colour like #1a2b3c")
        elif group == "relations":
            palette_fields.setdefault("relations", {})[key] = colour
        else:
            palette_fields[_FIELD_OF[group].format(key)] = colour


def find_shipped_folder() -> Path:
    """Return the folder of the shipped themes: inside the wheel, or at the root of a checkout."""
    here = Path(__file__).resolve().parents[1]
    packaged = here / "_data" / "themes"
    return packaged if packaged.is_dir() else here.parents[1] / "themes"


def theme_folders() -> tuple[Path, ...]:
    """Return the folders of themes: the shipped ones, then the user's."""
    import platformdirs

    return find_shipped_folder(), Path(platformdirs.user_config_dir("amgs", appauthor=False)) / "themes"


def to_textual(palette: Palette) -> Theme:
    """Return the palette as a Textual theme; every colour is also a variable (`$lod0`, `$part-recency`)."""
    from textual.theme import Theme  # late: pictures and headless runs must not load Textual

    variables = {
        item.name.replace("_", "-"): str(getattr(palette, item.name))
        for item in fields(palette)
        if str(getattr(palette, item.name)).startswith("#")
    }
    variables |= {
        "bad-on-panel": palette.readable(palette.bad, palette.panel),
        "block-cursor-background": palette.selection,
        "block-cursor-foreground": palette.text,
        "block-cursor-blurred-background": palette.selection,
        "block-cursor-blurred-foreground": palette.text,
        "input-selection-background": palette.selection,
        "input-selection-foreground": palette.text,
        "footer-key-foreground": palette.accent,
        "border": palette.faint,
        "border-blurred": palette.faint,
    }
    for taken in ("background", "surface", "panel", "text"):
        variables.pop(taken)
    return Theme(
        name=palette.name,
        primary=palette.accent,
        secondary=palette.part_centrality,
        accent=palette.accent,
        foreground=palette.text,
        background=palette.background,
        surface=palette.surface,
        panel=palette.panel,
        success=palette.good,
        warning=palette.warn,
        error=palette.bad,
        dark=palette.dark,
        variables=variables,
    )


def rgb(colour: str) -> tuple[int, int, int]:
    """Return `#rrggbb` as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(maxsize=4096)
def blend(start: str, end: str, share: float) -> str:
    """Return the colour at `share` of the way from `start` to `end`."""
    mixed = (round(a + (b - a) * share) for a, b in zip(rgb(start), rgb(end), strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


@lru_cache(maxsize=4096)
def contrast(colour: str, other: str) -> float:
    """Return the contrast of two colours, from 1 for equal ones to 21 for black and white (WCAG 2.2)."""
    dark, light = sorted((_relative_luminance(colour), _relative_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _relative_luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in rgb(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
