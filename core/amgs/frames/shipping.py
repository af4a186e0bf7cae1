"""The frames that ship with the engine, as data: six atomic types and four composites (AMGS §4.2, §4.4, §7.2); and how
they reach stores that an older version made.

The store remembers of each shipped frame which version it was given. One that still is that version is renewed when
another ships; one that the operator changed is kept, and says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from amgs.errors import AmgsError, StoreCorruptError
from amgs.frames import registry
from amgs.storage.frames import encode
from amgs.types import BlockFilter, ChildFrame, FrameDefinition, SelectionRule, Weights

if TYPE_CHECKING:
    from amgs.frames.registry import Definitions
    from amgs.storage.store import Storage
    from amgs.types import FrameDefinition


SELF = FrameDefinition(
    name="SELF",
    purpose="Long-lived identity and core beliefs",
    weights=Weights(recency=0.05, centrality=0.25, confidence=0.30, similarity=0.10, reinforcement=0.30),
    rule=SelectionRule(gather="identity"),
    budget=512,
    refresh_hours=1.0,
)

WORLD = FrameDefinition(
    name="WORLD",
    purpose="What is known of a subject, beside what was said",
    weights=Weights(recency=0.10, centrality=0.30, confidence=0.25, similarity=0.25, reinforcement=0.10),
    rule=SelectionRule(
        filter=BlockFilter(without="dialogue"), gather="known", selection="entropy", similarity_share=0.4
    ),
    budget=1024,
    refresh_hours=24.0,
)

ATTENTION = FrameDefinition(
    name="ATTENTION",
    purpose="What the present question needs",
    weights=Weights(recency=0.25, centrality=0.15, confidence=0.15, similarity=0.35, reinforcement=0.10),
    rule=SelectionRule(similarity_share=0.5, order="search"),
    budget=1024,
)

SHORT_TERM = FrameDefinition(
    name="SHORT_TERM",
    purpose="What happened or was used in the last week",
    weights=Weights(recency=0.50, centrality=0.05, confidence=0.10, similarity=0.20, reinforcement=0.15),
    rule=SelectionRule(gather="filter", window_hours=168.0),
    budget=512,
    refresh_hours=0.1,
)

TASK = FrameDefinition(
    name="TASK",
    purpose="One problem: its tasks, decisions and procedures, and what they lead to",
    weights=Weights(recency=0.15, centrality=0.10, confidence=0.15, similarity=0.45, reinforcement=0.15),
    rule=SelectionRule(gather="task", hops=2, similarity_share=0.4),
    budget=1024,
)

INBOX = FrameDefinition(
    name="INBOX",
    purpose="What came in and is not consolidated yet",
    weights=Weights(recency=0.60, centrality=0.0, confidence=0.10, similarity=0.20, reinforcement=0.10),
    rule=SelectionRule(filter=BlockFilter(statuses=("raw",)), gather="filter"),
    budget=1024,
    semantic_threshold=None,
)

SESSION = FrameDefinition(
    name="SESSION",
    purpose="The whole context of a reasoning agent",
    weights=ATTENTION.weights,
    budget=2048,
    children=(ChildFrame("SELF", 0.25), ChildFrame("ATTENTION", 0.85), ChildFrame("SHORT_TERM", 1.0)),
)

REASONING = FrameDefinition(
    name="REASONING",
    purpose="Solving a problem of the domain",
    weights=TASK.weights,
    budget=2048,
    children=(ChildFrame("WORLD", 0.4), ChildFrame("TASK", 0.35), ChildFrame("ATTENTION", 0.25)),
    merge="union",
    budget_strategy="static",
)

BRIEFING = FrameDefinition(
    name="BRIEFING",
    purpose="The day's digest: who I am, what happened, what came in",
    weights=SHORT_TERM.weights,
    budget=1024,
    children=(ChildFrame("SELF", 0.25), ChildFrame("SHORT_TERM", 0.6), ChildFrame("INBOX", 1.0)),
)

DEEP_RECALL = FrameDefinition(
    name="DEEP_RECALL",
    purpose="Knowledge seen from who I am",
    weights=WORLD.weights,
    budget=2048,
    children=(ChildFrame("WORLD", 0.7), ChildFrame("SELF", 0.3)),
    merge="union",
    budget_strategy="dynamic",
)

DEFAULTS: tuple[FrameDefinition, ...] = (
    SELF,
    WORLD,
    ATTENTION,
    SHORT_TERM,
    TASK,
    INBOX,
    SESSION,
    REASONING,
    BRIEFING,
    DEEP_RECALL,
)
"""In an order in which each frame follows its children."""


_KEY = "shipped_frames"

Kind = Literal["shipped", "changed", "own"]


Given = Mapping[str, str]
"""The version of each shipped frame that a store was given, by its name: a hash."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a frame's definition, in a word and in a sentence."""

    name: str
    kind: Kind
    told: str


def mark(definition: FrameDefinition) -> str:
    """Return a hash that tells one version of a definition from another."""
    text = json.dumps(encode(definition), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def renewal(
    stored: Definitions, versions: Given, shipped: Sequence[FrameDefinition]
) -> tuple[tuple[FrameDefinition, ...], Given]:
    """Return which of the shipped definitions, children before parents, a store should take, and what it was given
    then.

    Those it has never had, and those it has as they once shipped. One that would close a cycle through the
    operator's own frames is left out.
    """
    known, after = dict(stored), dict(versions)
    written = []
    for definition in shipped:
        present, before = known.get(definition.name), versions.get(definition.name)
        if present == definition:
            after[definition.name] = mark(definition)
            continue
        if present is not None and before != mark(present):
            continue
        try:
            known = registry.register(definition, known)
        except AmgsError:
            continue
        written.append(definition)
        after[definition.name] = mark(definition)
    return tuple(written), after


def renew(storage: Storage, shipped: Sequence[FrameDefinition]) -> None:
    """Bring the shipped definitions of a store up to date, in one transaction when there is anything to do."""
    versions = _read(storage)
    written, after = renewal(registry.by_name(storage.frames.everything()), versions, shipped)
    if written or after != versions:
        with storage.transaction():
            storage.frames.put(written)
            _write(storage, after)


def reset(storage: Storage, definition: FrameDefinition) -> None:
    """Put a shipped definition back in place of the operator's change of it; inside a transaction."""
    storage.frames.put([definition])
    _write(storage, {**_read(storage), definition.name: mark(definition)})


def origins(storage: Storage, known: Definitions, shipped: Sequence[FrameDefinition]) -> tuple[Origin, ...]:
    """Return where each registered definition comes from, in the order of the registry."""
    versions, ours = _read(storage), registry.by_name(shipped)
    return tuple(
        _origin(definition, ours.get(definition.name), versions.get(definition.name)) for definition in known.values()
    )


def _origin(definition: FrameDefinition, ours: FrameDefinition | None, version: str | None) -> Origin:
    if ours is None:
        return Origin(definition.name, "own", "yours")
    if definition == ours:
        return Origin(definition.name, "shipped", "shipped")
    newer = version is not None and version != mark(ours)
    remark = "changed here" + ("; another ships by now" if newer else "")
    return Origin(definition.name, "changed", f"{remark}: `frame delete {definition.name}` gives the shipped one back")


def check(storage: Storage) -> None:
    """Raise StoreCorruptError where what is kept of the shipped frames cannot be read; UsageError and its like where a
    definition is malformed, names a child that is not there, or would contain itself.
    """
    _read(storage)
    known = registry.by_name(storage.frames.everything())
    for name in registry.order(known):
        registry.check(registry.find(name, known))


def _read(storage: Storage) -> dict[str, str]:
    text = storage.meta.get(_KEY)
    try:
        return {} if text is None else {name: row["mark"] for name, row in json.loads(text).items()}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreCorruptError(
            "The store's record of its shipped frames cannot be read.", way_out="Restore a backup."
        ) from error


def _write(storage: Storage, versions: Given) -> None:
    # Earlier versions kept when a frame was renewed, and read it.
    rows = {name: {"mark": version, "renewed_at": None} for name, version in versions.items()}
    storage.meta.put(_KEY, json.dumps(rows, sort_keys=True))
