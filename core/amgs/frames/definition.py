"""The frames that ship with the engine, as data: six atomic types and four composites (AMGS §4.2, §4.4,
§7.2).
"""

from __future__ import annotations

from amgs.types import BlockFilter, ChildFrame, FrameDefinition, SelectionRule, Weights

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
    purpose="Knowledge of the world and of the domain",
    weights=Weights(recency=0.10, centrality=0.30, confidence=0.25, similarity=0.25, reinforcement=0.10),
    rule=SelectionRule(hops=2, selection="entropy", similarity_share=0.4, order="search"),
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
    purpose="One problem, for as long as it takes",
    weights=Weights(recency=0.15, centrality=0.10, confidence=0.15, similarity=0.45, reinforcement=0.15),
    rule=SelectionRule(hops=2, similarity_share=0.4, order="search"),
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
