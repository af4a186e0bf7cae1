"""Collect the wings' contributions to the application: their commands, results and panes, by the names of the wings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from amgs.wing_registry import WINGS, loaded


@dataclass(frozen=True, slots=True)
class TextSource:
    """A wing whose texts the tool `assemble` may read in place of a frame.

    asked: what its switch, named like the wing, says. operation: the command that makes a `text` for a `query` in at
    most `budget` tokens; its text cites its blocks itself. nothing: what is said of an empty one.
    """

    asked: str
    operation: str
    nothing: str


@dataclass(frozen=True, slots=True)
class WingView:
    """Contribution of a wing to the application; `VIEW` of its package.

    Modules, and places written `MODULE:NAME`, are imported when they are asked for. words: the first words of its
    commands; about: what they do; heading: under which they are listed, "" for those that ask a memory. operations,
    entries: the modules of its commands and of how their results are shown. look: the command that its pane shows,
    without arguments, "" for a wing without a pane. listing: the fields of the pane's rows; terms: of its pictures,
    with what they mean. source: see there.
    """

    words: tuple[str, ...]
    about: str
    operations: str
    entries: str
    look: str = ""
    listing: str = ""
    terms: str = ""
    heading: str = ""
    source: TextSource | None = None


@cache
def views() -> Mapping[str, WingView]:
    """Return the view of every wing, by the wing's name, which is the name of its pane too, if it has one."""
    return {name: loaded(f"amgs_app.views.{name}:VIEW") for name in WINGS}
