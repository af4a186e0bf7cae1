"""Collect the wings' contributions to the application: their commands, results and panes, by the names of the wings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from amgs.wing_registry import WINGS, load_named


@dataclass(frozen=True, slots=True)
class TextSource:
    """A wing whose texts the tool `assemble` can return in place of a frame.

    asked: help text of its switch, which has the wing's name. operation: the command that makes a text for a query
    within a token budget, with its blocks cited. nothing: the sentence for an empty text.
    """

    asked: str
    operation: str
    nothing: str


@dataclass(frozen=True, slots=True)
class WingView:
    """What a wing adds to the application: the constant `VIEW` of its package in `views/`.

    operations, entries: modules of its commands and of how their results are shown; places written `MODULE:NAME` are
    imported on use. words: first words of its commands; about: what they do; heading: the heading under which help
    lists them, "" for "Ask it". look: the command whose result its pane shows, "" without a pane. listing: fields of
    the pane's rows. terms: glossary of its pictures. source: see TextSource.
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
    """Return the view of every wing, by the wing's name (which is also the name of its pane)."""
    return {name: load_named(f"amgs_app.views.{name}:VIEW") for name in WINGS}
