"""The block and the edge: what a memory is made of (AMGS §3.1, §3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Status = Literal["raw", "consolidated", "archived", "pruned"]
STATUSES: tuple[Status, ...] = get_args(Status)

Vector = NDArray[np.float32]
"""(d,) or (n, d) float32; embeddings are unit length."""


@dataclass(frozen=True, slots=True)
class Block:
    """The atom of memory: immutable content under its hash, and metadata that evolves (AMGS §3.1).

    created_at is in UTC; `utc_offset` in meta ("-06:00") is what its writer's clock was off by, where that is known and
    not 0; `said_at` in meta when it was said last, with that offset, where that was later; `held_before` from when to
    when it held before it ended and was said again. meta holds what the source
    said: `source` (a path, or path#turn), `title`, `headings` (its path, outermost first), `lines`, `tags`, `author`,
    `entities`; `categories` where it is of several.
    valid_from, valid_to: from when to when what it says held; None: from its creation, and to this day.
    """

    id: str
    content: str
    created_at: datetime
    last_reinforced_at: datetime
    category: str = "uncategorised"
    confidence: float = 0.5
    decay_lambda: float = 0.01
    status: Status = "raw"
    is_self_component: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    embedding: Vector | None = field(default=None, compare=False, repr=False)

    @property
    def categories(self) -> tuple[str, ...]:
        """All its kinds of knowledge, `category` first: a note may both decide something and state a preference."""
        further = self.meta.get("categories")
        kinds = (str(kind) for kind in further) if isinstance(further, list | tuple) else ()
        return tuple(dict.fromkeys((self.category, *kinds)))

    @property
    def superseded(self) -> bool:
        """Return whether its content no longer holds: another block took its place, or its source dropped it."""
        return self.valid_to is not None

    @property
    def said_at(self) -> datetime:
        """Time of its latest statement, by that writer's clock: of two statements the later one is the newer."""
        at = self.meta.get("said_at")
        try:
            return self.written if at is None else max(self.written, datetime.fromisoformat(at))
        except (OverflowError, TypeError, ValueError):
            return self.written

    @property
    def written(self) -> datetime:
        """Time of writing, by its writer's clock and calendar."""
        offset = self.meta.get("utc_offset")
        try:
            zone = datetime.strptime(offset, "%z").tzinfo if isinstance(offset, str) else None
            return self.created_at if zone is None else self.created_at.astimezone(zone)
        except (OverflowError, ValueError):
            return self.created_at

    @property
    def title(self) -> str:
        """Headings above it, `Guide › Install`, else the source's title, else the first line with words, without the
        signs of markup; at most 60 characters.
        """
        path = heading_path(self.meta)
        if not path:
            return _cut(_first_words(self.content), _LONGEST_TITLE)
        whole = _BETWEEN.join(path)
        if len(whole) <= _LONGEST_TITLE or len(path) == 1:
            return _cut(whole, _LONGEST_TITLE)
        # The last heading says most, then the first.
        last = _cut(path[-1], _LONGEST_TITLE - 20)
        skipped = f"{_BETWEEN}…" if len(path) > 2 else ""
        first = _cut(path[0], _LONGEST_TITLE - len(last) - len(skipped) - len(_BETWEEN))
        return f"{first}{skipped}{_BETWEEN}{last}"


_LONGEST_TITLE = 60
_BETWEEN = " › "


def heading_path(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings that a block stands under, outermost first, the last being its title; () without any."""
    titles = meta.get("headings") or (meta.get("document"), meta.get("title"))
    headings = (str(h) for h in titles if h) if isinstance(titles, list | tuple) else ()
    return tuple(" ".join(h.split()) for h in headings)


def untold(content: str, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of a block that the beginning of its text does not tell."""
    path = heading_path(meta)
    if not path:
        return ()
    opening = "".join(c for c in content[:400].lower() if c.isalnum())
    return tuple(h for h in dict.fromkeys(path) if "".join(c for c in h.lower() if c.isalnum()) not in opening)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


_PICTURE = r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?"
_MARKUP = re.compile(rf"<[^<>]*>|\[\s*{_PICTURE}\s*\](?:\([^)]*\)|\[[^\]]*\])?|{_PICTURE}")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\([^)\s]*(?:\s[^)]*)?\)|\[[^\]]*\])")
_IDLE = re.compile(r"\.\. |[`~]{3}|\[(?!\^)[^\]]+\]:\s|#\+|:\w[\w-]*:(?:\s|$)|<!--|-->")
"""Lines that only mark something up: directives, fences, link definitions, comments."""


def _first_words(content: str) -> str:
    lines = content.lstrip()[:4000].split("\n")
    for line in lines[:40]:
        bare = line.strip()
        if not any(map(str.isalnum, bare)) or _IDLE.match(bare):
            continue
        words = _LINK.sub(r"\1", _MARKUP.sub(" ", bare)) if any(sign in bare for sign in "<[") else bare
        words = " ".join(words.replace("**", "").lstrip("#>*- ").split())
        if any(map(str.isalnum, words)):
            return words
    return lines[0].lstrip("#>*- ").strip()


EdgeKey = tuple[str, str, str]
"""(source_id, target_id, relation_type)."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, weighted, directed relation between two blocks that decays on its own (AMGS §3.2)."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    confidence: float
    created_at: datetime
    last_reinforced_at: datetime
    decay_lambda: float = 0.001

    @property
    def key(self) -> EdgeKey:
        """Key of an edge: source, target and relation."""
        return self.source_id, self.target_id, self.relation_type


@dataclass(frozen=True, slots=True)
class Centrality:
    """A block's place in the graph; each measure scaled to [0, 1] over the graph."""

    degree: float = 0.0
    eigenvector: float = 0.0
    pagerank: float = 0.0
    betweenness: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveEdge:
    """An edge with its strength at an instant: weight x confidence x relevance."""

    edge: Edge
    strength: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Neighbourhood of a block within `hops`: distance by id, the blocks, and the edges among them."""

    center: Block
    hops: int
    distances: Mapping[str, int] = field(hash=False)
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    centrality: Mapping[str, Centrality] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Counts and shape of the graph of blocks that are neither archived nor pruned."""

    nodes: int
    edges: int
    density: float
    components: int
    by_relation: Mapping[str, int] = field(default_factory=dict, hash=False)
