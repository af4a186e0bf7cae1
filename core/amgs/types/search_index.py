"""The search index outside the process: what a build did, and how it stands to the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Consistency = Literal["strong", "bounded"]
CONSISTENCIES = get_args(Consistency)
"""strong: what was built and everything that came since; bounded: what was built alone."""


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """One build. place: the folder of the store's datasets. built_at: the state of the store it holds now. rows:
    blocks in it; changed: rows written or removed for it, 0 where it was up to date.
    """

    place: str
    version: int
    built_at: int
    rows: int
    changed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands. version: 0 where nothing was built. built_at, store_at: counters of changes of structure.
    lag: blocks that changed since and stand beside it. size: bytes of the version.
    """

    place: str
    version: int
    built_at: int
    store_at: int
    lag: int
    rows: int
    size: int
