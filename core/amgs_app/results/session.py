"""Immutable results of operations on a session: selection, display, layout, recording, help."""

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
    """`show`: a pane and the result that it shows."""

    pane: Pane
    result: Any


@dataclass(frozen=True, slots=True)
class ThemeSet:
    """`theme`: the present palette, and all palettes."""

    name: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sifted:
    """`filter`, `sort`: a pane's filter and order from now on."""

    pane: Pane
    sift: ListFilter


@dataclass(frozen=True, slots=True)
class LayoutList:
    """`layout --list`: names and layouts; "(last)" is the layout when the screen was last closed."""

    rows: tuple[tuple[str, Layout], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """`save` without a file: recording of the session's acts begins, after this many acts."""

    since: int


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """`snapshot`: the files that were written, or compared and found equal."""

    name: str
    pane: Pane
    files: tuple[str, ...]
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """`save`: a script of the session's acts, and its number of lines."""

    file: str
    lines: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """`expect`: a metric that was compared and is as expected."""

    metric: str
    operator: str
    wanted: float
    found: float


@dataclass(frozen=True, slots=True)
class VerbHelp:
    """`help` of an operation. parameters: (label, text) in order. example: a command line."""

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
    """`help WORD`: a command in full, or all that match. also: other matches."""

    verbs: tuple[VerbHelp, ...]
    also: tuple[VerbHelp, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandGroups:
    """`help`: first words of all commands, by purpose. count: number of commands that begin with each."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    count: int
