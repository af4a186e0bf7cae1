"""What the methods take that the requests of both clients are derived from, and which operations write.

Made by `scripts/client_stubs.py`.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

TAKES: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "CalibrationCalls.answers": lambda limit=100: locals(),
    "CalibrationCalls.note_answer": lambda answer, *, query="": locals(),
    "CalibrationCalls.plan": lambda method="isotonic": locals(),
    "ConversationsCalls.acts": lambda conversation, *, closed=False: locals(),
    "ConversationsCalls.add": lambda conversation, messages: locals(),
    "ConversationsCalls.clear": lambda conversation: locals(),
    "ConversationsCalls.entities": lambda conversation, *, type=None, least=0.75: locals(),
    "ConversationsCalls.keep": lambda conversation, handle="", *, drop=False, budget=None: locals(),
    "ConversationsCalls.list": lambda: locals(),
    "ConversationsCalls.memories": lambda conversation, *, recent=20: locals(),
    "ConversationsCalls.mentions": lambda conversation, handle="", *, least=0.75: locals(),
    "ConversationsCalls.optimise": lambda conversation, query="", *, budget=None, strategy=None, configuration="default", previous="", until=None, keep=(): (
        locals()
    ),
    "ConversationsCalls.resolve": lambda conversation: locals(),
    "ConversationsCalls.restore": lambda conversation, handle, level="complete", *, most=12: locals(),
    "ConversationsCalls.show": lambda conversation, handle="": locals(),
    "ConversationsCalls.stats": lambda conversation: locals(),
    "ConversationsCalls.summary": lambda conversation, level="cumulative", *, sentences=5: locals(),
    "ConversationsCalls.survival": lambda conversation, query="", *, budget=None, strategy=None, configuration="default", previous="", until=None, keep=(): (
        locals()
    ),
    "ConversationsCalls.topics": lambda conversation: locals(),
    "ConversationsCalls.validate": lambda conversation, text, handle="": locals(),
    "DiagnosisCalls.diagnose": lambda answer, missed, **asked_of: locals(),
    "DiagnosisCalls.fix": lambda answer, missed, **asked_of: locals(),
    "EntitiesCalls.get": lambda name, limit=20, order="relevance": locals(),
    "EntitiesCalls.list": lambda limit=50, type=None, min_mentions=2: locals(),
    "ErasureCalls.erase": lambda ids: locals(),
    "ErasureCalls.plan": lambda ids: locals(),
    "FramesCalls.cached": lambda name, *, query="", budget=None, weights=None: locals(),
    "FramesCalls.delete": lambda name: locals(),
    "FramesCalls.history": lambda name=None, limit=20: locals(),
    "FramesCalls.replay": lambda assembly_id: locals(),
    "FramesCalls.reset": lambda name: locals(),
    "FramesCalls.why": lambda name, query, block, *, budget=None, weights=None, child=None: locals(),
    "FramesCalls.why_then": lambda assembly_id, block: locals(),
    "GatewayLogCalls.exchange": lambda number: locals(),
    "GatewayLogCalls.exchanges": lambda limit=50: locals(),
    "GraphCalls.communities": lambda limit=12: locals(),
    "GraphCalls.confirm_edge": lambda source, target, *, kind="related": locals(),
    "GraphCalls.neighbourhood": lambda block_id, hops=1, limit=60, *, relations=(), since=None: locals(),
    "GraphCalls.neighbours": lambda block_id, hops=1, limit=60, *, relations=(), since=None: locals(),
    "GraphCalls.path": lambda start, goal: locals(),
    "LifecycleCalls.accept": lambda review_id: locals(),
    "LifecycleCalls.calibrate": lambda method="isotonic": locals(),
    "LifecycleCalls.category_curves": lambda *, days=30: locals(),
    "LifecycleCalls.due": lambda: locals(),
    "LifecycleCalls.enhance": lambda *, kinds=(), limit=None: locals(),
    "LifecycleCalls.explain_pruning": lambda block_id, *, threshold=None, lowest=None: locals(),
    "LifecycleCalls.operation": lambda operation_id, limit=200: locals(),
    "LifecycleCalls.plan_enhancement": lambda *, kinds=(), limit=None: locals(),
    "LifecycleCalls.plan_pruning": lambda *, hard=False, limit=None, threshold=None, lowest=None: locals(),
    "LifecycleCalls.plan_review": lambda: locals(),
    "LifecycleCalls.plan_undo": lambda operation_id=None: locals(),
    "LifecycleCalls.preview_decay": lambda block_id, decay_lambda, *, days=30.0: locals(),
    "LifecycleCalls.prune": lambda *, limit=None, threshold=None, lowest=None: locals(),
    "LifecycleCalls.reject": lambda review_id: locals(),
    "LifecycleCalls.reviews": lambda *, every=False, limit=None: locals(),
    "MemoryClient.add_edge": lambda source, target, *, kind="related", weight=0.8, confidence=1.0: locals(),
    "MemoryClient.assemble": lambda name, *, query="", budget=None, weights=None, reinforce=True, as_of=None: (
        locals()
    ),
    "MemoryClient.block": lambda id_or_prefix: locals(),
    "MemoryClient.centrality": lambda block_id: locals(),
    "MemoryClient.consolidate": lambda *, limit=None: locals(),
    "MemoryClient.context": lambda query, *, frame="SESSION", budget=None, weights=None, reinforce=True: (
        locals()
    ),
    "MemoryClient.counts": lambda: locals(),
    "MemoryClient.decay_curve": lambda block_id, *, days=30: locals(),
    "MemoryClient.diversity": lambda: locals(),
    "MemoryClient.feedback": lambda block_id, *, useful, assembly_id=None, prediction_id=None: locals(),
    "MemoryClient.find": lambda text, limit=20: locals(),
    "MemoryClient.forecast": lambda *, days=30, threshold=None: locals(),
    "MemoryClient.frame_definitions": lambda: locals(),
    "MemoryClient.graph_stats": lambda: locals(),
    "MemoryClient.health": lambda: locals(),
    "MemoryClient.neighbourhood": lambda block_id, hops=1, limit=60: locals(),
    "MemoryClient.note": lambda id, text: locals(),
    "MemoryClient.operations": lambda limit=20: locals(),
    "MemoryClient.outcomes": lambda limit=100: locals(),
    "MemoryClient.plan_consolidation": lambda *, limit=None: locals(),
    "MemoryClient.redo": lambda operation_id=None: locals(),
    "MemoryClient.reliability": lambda bins=10, *, by=None, value=None: locals(),
    "MemoryClient.remove_edge": lambda source, target, *, kind=None: locals(),
    "MemoryClient.search": lambda query, *, top_k=10, layers=None, filter=None, weights=None, as_of=None: (
        locals()
    ),
    "MemoryClient.searches": lambda limit=20: locals(),
    "MemoryClient.set_metadata": lambda id, *, category=None, confidence=None, decay_lambda=None, is_self_component=None, status=None, meta=None: (
        locals()
    ),
    "MemoryClient.status": lambda: locals(),
    "MemoryClient.tag": lambda id, add=(), remove=(): locals(),
    "MemoryClient.undo": lambda operation_id: locals(),
    "MemoryClient.verify": lambda: locals(),
    "MemoryClient.why": lambda query, block, *, frame=None, top_k=10, filter=None, weights=None, budget=None, child=None: (
        locals()
    ),
    "MemoryClient.why_then": lambda number, block: locals(),
    "PacksCalls.accept": lambda proposal: locals(),
    "PacksCalls.assemble": lambda query, *, budget=None, role=None, session="": locals(),
    "PacksCalls.diff": lambda left, right="": locals(),
    "PacksCalls.judge": lambda use, *, useful: locals(),
    "PacksCalls.keep": lambda name, *, query="", frame="SESSION", budget=None, blocks=(), title="", keywords=(): (
        locals()
    ),
    "PacksCalls.learn": lambda pack, *, others=(), share=0.25, dry_run=False: locals(),
    "PacksCalls.list": lambda *, retired=False, keep=None: locals(),
    "PacksCalls.proposals": lambda: locals(),
    "PacksCalls.reject": lambda proposal: locals(),
    "PacksCalls.retire": lambda *names: locals(),
    "PacksCalls.route": lambda query, *, budget=None, role=None: locals(),
    "PacksCalls.show": lambda pack: locals(),
    "PacksCalls.use": lambda pack, query="", *, budget=None, prune=False, session="": locals(),
    "PacksCalls.weights": lambda: locals(),
    "PlansCalls.consolidate": lambda *, limit=None: locals(),
    "PlansCalls.enhance": lambda *, kinds=(), limit=None: locals(),
    "PlansCalls.prune": lambda *, limit=None, threshold=None, lowest=None: locals(),
    "SimulationCalls.evolve": lambda *, days=90.0, draws=64, steps=6, rate=None: locals(),
    "SimulationCalls.insert": lambda text, *, days=30.0, draws=64: locals(),
    "SimulationCalls.prune": lambda *, thresholds=(), days=180.0, cycle=30.0, draws=32, rate=None, lowest=None: (
        locals()
    ),
    "SimulationCalls.stability": lambda *, noise=0.3, loss=0.1, days=30.0, paces=(0.5, 1.0, 2.0, 4.0), draws=32: (
        locals()
    ),
    "SourcesCalls.delete": lambda names: locals(),
    "SourcesCalls.history": lambda name: locals(),
    "SourcesCalls.list": lambda below="": locals(),
    "SourcesCalls.plan_delete": lambda names: locals(),
    "SourcesCalls.plan_text": lambda name, text: locals(),
    "SourcesCalls.update": lambda name, text: locals(),
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
    }
)
"""Operations that change the memory."""
