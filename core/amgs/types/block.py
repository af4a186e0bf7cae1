"""The block and the edge, of which a memory consists (AMGS §3.1, §3.2)."""

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
"""(d,) or (n, d) float32; embeddings have unit length."""


@dataclass(frozen=True, slots=True)
class Block:
    """The unit of memory: immutable content, identified by its hash, and metadata that changes (AMGS §3.1).

    created_at is in UTC; in meta, `utc_offset` ("-06:00") is the offset of its writer's clock, if known and not 0;
    `said_at` when it was last said, with that offset, if later; `held_before` the periods in which it held before it
    ended and was said again. meta also holds what the source says: `source` (a path, or path#turn), `title`, `headings`
    (outermost first), `lines`, `tags`, `author`, `entities`; and `categories` if it has several. valid_from, valid_to:
    period in which its content holds; None: since its creation, until now.
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
        """All its categories, `category` first: a note may both state a decision and a preference."""
        further = self.meta.get("categories")
        kinds = (str(kind) for kind in further) if isinstance(further, list | tuple) else ()
        return tuple(dict.fromkeys((self.category, *kinds)))

    @property
    def superseded(self) -> bool:
        """Return whether its content no longer holds: another block replaced it, or its source dropped it."""
        return self.valid_to is not None

    @property
    def said_at(self) -> datetime:
        """When it was last said, by its writer's clock."""
        at = self.meta.get("said_at")
        try:
            return self.written if at is None else max(self.written, datetime.fromisoformat(at))
        except (OverflowError, TypeError, ValueError):
            return self.written

    @property
    def written(self) -> datetime:
        """When it was written, by its writer's clock and calendar."""
        offset = self.meta.get("utc_offset")
        try:
            zone = datetime.strptime(offset, "%z").tzinfo if isinstance(offset, str) else None
            return self.created_at if zone is None else self.created_at.astimezone(zone)
        except (OverflowError, ValueError):
            return self.created_at

    @property
    def title(self) -> str:
        """The headings above it, `Guide › Install`, else the source's title, else the first line with words, without
        markup; at most 60 characters.
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
    """Return the headings above a block, outermost first, ending with its title; () without any."""
    titles = meta.get("headings") or (meta.get("document"), meta.get("title"))
    headings = (str(h) for h in titles if h) if isinstance(titles, list | tuple) else ()
    return tuple(" ".join(h.split()) for h in headings)


def untold(content: str, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of a block that the beginning of its text does not contain."""
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
"""Lines of markup only: directives, fences, link definitions, comments."""


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
    """A typed, weighted, directed relation between two blocks, with its own decay (AMGS §3.2)."""

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
        """Source, target and relation type."""
        return self.source_id, self.target_id, self.relation_type


@dataclass(frozen=True, slots=True)
class Centrality:
    """A block's centrality in the graph; each measure is scaled to [0, 1] over the graph."""

    degree: float = 0.0
    eigenvector: float = 0.0
    pagerank: float = 0.0
    betweenness: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveEdge:
    """An edge with its strength at a time: weight x confidence x relevance."""

    edge: Edge
    strength: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Blocks within `hops` of a block, with their distances by id, and the edges among them."""

    center: Block
    hops: int
    distances: Mapping[str, int] = field(hash=False)
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    centrality: Mapping[str, Centrality] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Size and shape of the graph of blocks that are neither archived nor pruned."""

    nodes: int
    edges: int
    density: float
    components: int
    by_relation: Mapping[str, int] = field(default_factory=dict, hash=False)
