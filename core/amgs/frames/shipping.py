"""Define the ten frames that ship with the engine (AMGS §4.2, §4.4, §7.2), and bring them to stores of older versions.

The store records the version (a hash) of each shipped frame it received. A frame that still has that version is
replaced when a new definition ships; a changed definition stays. The numbers below were measured:
docs/results/frames.md.
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


Versions = Mapping[str, str]
"""Hash of the version of each shipped frame that a store received, by its name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a frame's definition comes from. told: the same in words, for the operator."""

    name: str
    kind: Kind
    told: str


def hash_definition(definition: FrameDefinition) -> str:
    """Return a hash of a definition, its version."""
    text = json.dumps(encode(definition), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan_renewal(
    stored: Definitions, versions: Versions, shipped: Sequence[FrameDefinition]
) -> tuple[tuple[FrameDefinition, ...], Versions]:
    """Return the shipped definitions that a store should receive, children before parents, and its versions afterwards.

    These are definitions that it never had, and those that it has unchanged in an older version. One that would close a
    cycle through the operator's own frames is left out.
    """
    known, after = dict(stored), dict(versions)
    written = []
    for definition in shipped:
        present, before = known.get(definition.name), versions.get(definition.name)
        if present == definition:
            after[definition.name] = hash_definition(definition)
            continue
        if present is not None and before != hash_definition(present):
            continue
        try:
            known = registry.register(definition, known)
        except AmgsError:
            continue
        written.append(definition)
        after[definition.name] = hash_definition(definition)
    return tuple(written), after


def renew(storage: Storage, shipped: Sequence[FrameDefinition]) -> None:
    """Bring the shipped definitions of a store up to date, in a single transaction when there is anything to do."""
    versions = _read_versions(storage)
    written, after = plan_renewal(registry.by_name(storage.frames.everything()), versions, shipped)
    if written or after != versions:
        with storage.transaction():
            storage.frames.put(written)
            _write_versions(storage, after)


def reset(storage: Storage, definition: FrameDefinition) -> None:
    """Replace the operator's version of a frame by the shipped definition; the caller holds a transaction."""
    storage.frames.put([definition])
    _write_versions(storage, {**_read_versions(storage), definition.name: hash_definition(definition)})


def origins(storage: Storage, known: Definitions, shipped: Sequence[FrameDefinition]) -> tuple[Origin, ...]:
    """Return where each registered definition comes from, in the order of the registry."""
    versions, ours = _read_versions(storage), registry.by_name(shipped)
    return tuple(
        _origin(definition, ours.get(definition.name), versions.get(definition.name)) for definition in known.values()
    )


def _origin(definition: FrameDefinition, ours: FrameDefinition | None, version: str | None) -> Origin:
    """Return where a definition comes from. ours: the shipped definition, None for the operator's own frame."""
    if ours is None:
        return Origin(definition.name, "own", "yours")
    if definition == ours:
        return Origin(definition.name, "shipped", "shipped")
    newer = version is not None and version != hash_definition(ours)
    remark = "changed here" + ("; another ships by now" if newer else "")
    return Origin(definition.name, "changed", f"{remark}: `frame delete {definition.name}` gives the shipped one back")


def check_definitions(storage: Storage) -> None:
    """Raise StoreCorruptError where the record of versions cannot be read; UsageError or another AmgsError where a
    stored definition is malformed, names an unknown child or contains itself.
    """
    _read_versions(storage)
    known = registry.by_name(storage.frames.everything())
    for name in registry.order(known):
        registry.check(registry.find(name, known))


def _read_versions(storage: Storage) -> dict[str, str]:
    """Return the recorded version of each shipped frame; raise StoreCorruptError where the record is damaged."""
    text = storage.meta.get(_KEY)
    try:
        return {} if text is None else {name: row["mark"] for name, row in json.loads(text).items()}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreCorruptError(
            "The store's record of its shipped frames cannot be read.", way_out="Restore a backup."
        ) from error


def _write_versions(storage: Storage, versions: Versions) -> None:
    # `renewed_at` is for earlier versions of the program, which read it.
    rows = {name: {"mark": version, "renewed_at": None} for name, version in versions.items()}
    storage.meta.put(_KEY, json.dumps(rows, sort_keys=True))
