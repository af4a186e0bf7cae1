"""The frozen results of the operations that maintain a lifetime: forgetting, tags, metadata, corpora."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_focus.records import SpanAbout, SpanProvenance, Tag
    from amgs_focus.tree.corpus import CorpusPlan
    from amgs_focus.tree.retention import ForgetPlan
    from amgs_focus.tree.span_metadata import Act
    from amgs_focus.views import FocusView


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`focus forget`: what would be, or was, forgotten. act: None for a plan that was not carried out."""

    plan: ForgetPlan
    act: Act | None
    view: FocusView


@dataclass(frozen=True, slots=True)
class Brought:
    """`focus restore`: gists that may be opened again."""

    act: Act
    gists: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Purged:
    """`focus purge`: what would be, or was, made empty for good. act: None where --yes was not said."""

    gists: int
    tokens: int
    bytes: int
    act: Act | None
    view: FocusView


@dataclass(frozen=True, slots=True)
class ActRow:
    """One line of `focus forget --list`. in_force: gists of it that are still forgotten; wanted: of these, how many
    were asked for since.
    """

    act: Act
    in_force: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ForgottenList:
    """`focus forget --list`: what was forgotten, restored and purged, in order."""

    rows: tuple[ActRow, ...]
    sealed: int
    purged: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Tagged:
    """`focus tag`: a word put on tokens or taken off, and all the tags there are."""

    tag: Tag
    released: bool
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span of `focus spans`. number: what `focus describe` names it by; forgotten: share of its tokens that may
    not be shown any more; opened, dwell: summed over its blocks; spread: how much its gists differ, near 0 for text
    that repeats itself.
    """

    number: int
    kept: SpanProvenance
    tags: tuple[Tag, ...]
    opened: int
    dwell: int
    forgotten: float
    spread: float


@dataclass(frozen=True, slots=True)
class SpanList:
    """`focus spans`: where the lifetime came from, in order; `total` counts all, shown or not."""

    rows: tuple[SpanRow, ...]
    total: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class SpanDescribed:
    """`focus describe`: what is known of a span, before and after."""

    number: int
    before: SpanAbout
    after: SpanAbout


@dataclass(frozen=True, slots=True)
class CorpusRead:
    """`focus open DIR`: the plan of a folder, and whether it was read in. skipped: (file, why)."""

    folder: str
    plan: CorpusPlan
    skipped: tuple[tuple[str, str], ...]
    read: bool
    view: FocusView | None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """`focus rebuild`: gists that were made anew, and by what. purged: rows that had to stay as they were."""

    gists: int
    purged: int
    gist: str
    version: int
    view: FocusView
