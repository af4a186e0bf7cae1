"""The frozen results of operations on a session: what it selects, shows, arranges, records and explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs_app.panes.layout import Layout, Pane
    from amgs_app.panes.row_filter import ListFilter


@dataclass(frozen=True, slots=True)
class SelectedBlock:
    """`select`: the block that every pane now shows."""

    block: Block


@dataclass(frozen=True, slots=True)
class Shown:
    """`show`: a pane and the result it draws."""

    pane: Pane
    result: Any


@dataclass(frozen=True, slots=True)
class ThemeSet:
    """`theme`: the palette in use, and those there are."""

    name: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sifted:
    """`filter`, `sort`: what a pane's list shows from now on, and in what order."""

    pane: Pane
    sift: ListFilter


@dataclass(frozen=True, slots=True)
class LayoutList:
    """`layout --list`: names and arrangements; "(last)" is how the screen was left."""

    rows: tuple[tuple[str, Layout], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """`save` without a file: since when the session's acts go into the recording, as a number of acts before it."""

    since: int


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """`snapshot`: the files written, or found equal when the run checks."""

    name: str
    pane: Pane
    files: tuple[str, ...]
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """`save`: a script of what the session did, and how many lines it has."""

    file: str
    lines: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """`expect`: a metric that was compared and held."""

    metric: str
    operator: str
    wanted: float
    found: float


@dataclass(frozen=True, slots=True)
class VerbHelp:
    """Entry of `help` for one operation. parameters: (label, text) in order. example: a line that calls it."""

    name: str
    usage: str
    summary: str
    text: str
    parameters: tuple[tuple[str, str], ...]
    keys: tuple[str, ...] = ()
    example: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HelpList:
    """`help WORD`: one command in full, or those that the word finds. also: what else it finds."""

    verbs: tuple[VerbHelp, ...]
    also: tuple[VerbHelp, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandGroups:
    """`help`: the first words of all commands, by what they are for. count: how many commands they begin."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    count: int
