"""What the methods take that the requests of both clients are derived from, and which operations write.

Made by `scripts/client_stubs.py`.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

TAKES: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "Calibration.plan": lambda method="isotonic": locals(),
    "Conversations.acts": lambda conversation, *, closed=False: locals(),
    "Conversations.add": lambda conversation, messages: locals(),
    "Conversations.clear": lambda conversation: locals(),
    "Conversations.entities": lambda conversation, *, type=None, least=0.75: locals(),
    "Conversations.keep": lambda conversation, handle="", *, drop=False, budget=None: locals(),
    "Conversations.list": lambda: locals(),
    "Conversations.memories": lambda conversation, *, recent=20: locals(),
    "Conversations.mentions": lambda conversation, handle="", *, least=0.75: locals(),
    "Conversations.optimise": lambda conversation, query="", *, budget=None, strategy=None, configuration="default", previous="", until=None, keep=(): (
        locals()
    ),
    "Conversations.resolve": lambda conversation: locals(),
    "Conversations.restore": lambda conversation, handle, level="complete", *, most=12: locals(),
    "Conversations.show": lambda conversation, handle="": locals(),
    "Conversations.stats": lambda conversation: locals(),
    "Conversations.summary": lambda conversation, level="cumulative", *, sentences=5: locals(),
    "Conversations.survival": lambda conversation, query="", *, budget=None, strategy=None, configuration="default", previous="", until=None, keep=(): (
        locals()
    ),
    "Conversations.topics": lambda conversation: locals(),
    "Conversations.validate": lambda conversation, text, handle="": locals(),
    "Diagnosing.diagnose": lambda answer, missed, **asked_of: locals(),
    "Diagnosing.fix": lambda answer, missed, **asked_of: locals(),
    "Entities.get": lambda name, limit=20, order="relevance": locals(),
    "Entities.list": lambda limit=50, type=None, min_mentions=2: locals(),
    "Erasure.erase": lambda ids: locals(),
    "Erasure.plan": lambda ids: locals(),
    "Frames.cached": lambda name, *, query="", budget=None, weights=None: locals(),
    "Frames.delete": lambda name: locals(),
    "Frames.history": lambda name=None, limit=20: locals(),
    "Frames.replay": lambda assembly_id: locals(),
    "Frames.reset": lambda name: locals(),
    "Frames.why": lambda name, query, block, *, budget=None, weights=None, child=None: locals(),
    "Frames.why_then": lambda assembly_id, block: locals(),
    "GatewayLog.exchange": lambda number: locals(),
    "GatewayLog.exchanges": lambda limit=50: locals(),
    "Graph.causes": lambda block_id=None, limit=200: locals(),
    "Graph.communities": lambda limit=12: locals(),
    "Graph.confirm_edge": lambda source, target, *, kind="related": locals(),
    "Graph.neighbourhood": lambda block_id, hops=1, limit=60, *, relations=(), since=None: locals(),
    "Graph.path": lambda start, goal: locals(),
    "Lifecycle.accept": lambda review_id: locals(),
    "Lifecycle.category_curves": lambda *, days=30: locals(),
    "Lifecycle.due": lambda: locals(),
    "Lifecycle.explain_pruning": lambda block_id, *, threshold=None, lowest=None: locals(),
    "Lifecycle.operation": lambda operation_id, limit=200: locals(),
    "Lifecycle.plan_enhancement": lambda *, kinds=(), limit=None: locals(),
    "Lifecycle.plan_pruning": lambda *, hard=False, limit=None, threshold=None, lowest=None: locals(),
    "Lifecycle.plan_review": lambda: locals(),
    "Lifecycle.plan_undo": lambda operation_id=None: locals(),
    "Lifecycle.preview_decay": lambda block_id, decay_lambda, *, days=30.0: locals(),
    "Lifecycle.reject": lambda review_id: locals(),
    "Lifecycle.reviews": lambda *, every=False, limit=None: locals(),
    "Memory.add_edge": lambda source, target, *, kind="related", weight=0.8, confidence=1.0: locals(),
    "Memory.assemble": lambda name, *, query="", budget=None, weights=None, reinforce=True, as_of=None: (
        locals()
    ),
    "Memory.block": lambda id_or_prefix: locals(),
    "Memory.centrality": lambda block_id: locals(),
    "Memory.consolidate": lambda *, limit=None: locals(),
    "Memory.context": lambda query, *, frame="SESSION", budget=None, weights=None, reinforce=True: locals(),
    "Memory.counts": lambda: locals(),
    "Memory.decay_curve": lambda block_id, *, days=30: locals(),
    "Memory.diversity": lambda: locals(),
    "Memory.feedback": lambda block_id, *, useful, assembly_id=None, prediction_id=None: locals(),
    "Memory.find": lambda text, limit=20: locals(),
    "Memory.forecast": lambda *, days=30, threshold=None: locals(),
    "Memory.frame_definitions": lambda: locals(),
    "Memory.graph_stats": lambda: locals(),
    "Memory.health": lambda: locals(),
    "Memory.neighbourhood": lambda block_id, hops=1, limit=60: locals(),
    "Memory.note": lambda id, text: locals(),
    "Memory.operations": lambda limit=20: locals(),
    "Memory.outcomes": lambda limit=100: locals(),
    "Memory.plan_consolidation": lambda *, limit=None: locals(),
    "Memory.redo": lambda operation_id=None: locals(),
    "Memory.reliability": lambda bins=10, *, by=None, value=None: locals(),
    "Memory.remove_edge": lambda source, target, *, kind=None: locals(),
    "Memory.search": lambda query, *, top_k=10, layers=None, filter=None, weights=None, as_of=None, consistency="strong": (
        locals()
    ),
    "Memory.searches": lambda limit=20: locals(),
    "Memory.set_metadata": lambda id, *, category=None, confidence=None, decay_lambda=None, is_self_component=None, status=None, meta=None: (
        locals()
    ),
    "Memory.status": lambda: locals(),
    "Memory.tag": lambda id, add=(), remove=(): locals(),
    "Memory.undo": lambda operation_id: locals(),
    "Memory.verify": lambda: locals(),
    "Memory.why": lambda query, block, *, frame=None, top_k=10, filter=None, weights=None, budget=None, child=None: (
        locals()
    ),
    "Memory.why_then": lambda number, block: locals(),
    "Packs.accept": lambda proposal: locals(),
    "Packs.assemble": lambda query, *, budget=None, role=None, session="": locals(),
    "Packs.diff": lambda left, right="": locals(),
    "Packs.judge": lambda use, *, useful: locals(),
    "Packs.keep": lambda name, *, query="", frame="SESSION", budget=None, blocks=(), title="", keywords=(): (
        locals()
    ),
    "Packs.learn": lambda pack, *, others=(), share=0.25, dry_run=False: locals(),
    "Packs.list": lambda *, retired=False, keep=None: locals(),
    "Packs.proposals": lambda: locals(),
    "Packs.reject": lambda proposal: locals(),
    "Packs.retire": lambda *names: locals(),
    "Packs.route": lambda query, *, budget=None, role=None: locals(),
    "Packs.show": lambda pack: locals(),
    "Packs.use": lambda pack, query="", *, budget=None, prune=False, session="": locals(),
    "Packs.weights": lambda: locals(),
    "SearchIndex.build": lambda *, anew=False, compact=False: locals(),
    "SearchIndex.status": lambda: locals(),
    "Simulation.evolve": lambda *, days=90.0, draws=64, steps=6, rate=None: locals(),
    "Simulation.insert": lambda text, *, days=30.0, draws=64: locals(),
    "Simulation.prune": lambda *, thresholds=(), days=180.0, cycle=30.0, draws=32, rate=None, lowest=None: (
        locals()
    ),
    "Simulation.stability": lambda *, noise=0.3, loss=0.1, days=30.0, paces=(0.5, 1.0, 2.0, 4.0), draws=32: (
        locals()
    ),
    "SourceLibrary.history": lambda name: locals(),
    "SourceLibrary.list": lambda below="": locals(),
    "SourceLibrary.plan_delete": lambda names: locals(),
    "SourceLibrary.plan_text": lambda name, text: locals(),
    "Tasks.enqueue": lambda kinds=(): locals(),
    "Tasks.list": lambda limit=50: locals(),
    "Tasks.retry": lambda: locals(),
}
"""The arguments by name, by the method that takes them."""
WRITES: Final = frozenset(
    {
        "block_delete",
        "block_note",
        "block_set",
        "block_tag",
        "calibrate",
        "consolidate",
        "conversation_add",
        "conversation_clear",
        "conversation_keep",
        "conversation_resolve",
        "edge_add",
        "edge_remove",
        "enhance",
        "feedback",
        "fix",
        "frame_assemble",
        "frame_cached",
        "frame_delete",
        "frame_reset",
        "index_build",
        "pack_assemble",
        "pack_judge",
        "pack_keep",
        "pack_learn",
        "pack_proposals",
        "pack_retire",
        "pack_use",
        "prune",
        "redo",
        "review_decide",
        "review_scan",
        "source_delete",
        "source_update",
        "undo",
        "workers_enqueue",
    }
)
"""Operations that change the memory."""
