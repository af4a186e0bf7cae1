"""The table of both clients, once: which request stands behind each name, on the client itself and on its parts. The
rows of a wing stand with the wing.

A row says which operation answers a method of `Memory`, or of a part of it. What the method takes, gives and says is
found there: `scripts/client_stubs.py` writes from both `signatures.py`, by which arguments are read, and
`memory_client.pyi` and `async_memory_client.pyi`, which editors and type checkers read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from amgs.client import own_requests
from amgs.client.derived import Request, derive, locate
from amgs.client.transport import call
from amgs.wing_registry import loaded, wings


@dataclass(frozen=True, slots=True)
class PartNames:
    """Requests on one subject. kind: the name of its class, with `Async` before it for the client that is awaited."""

    kind: str
    about: str
    requests: Mapping[str, Request]


def part(kind: str, about: str, home: str, /, **requests: Request) -> PartNames:
    """Requests on one subject. home: the class whose methods most are derived from."""
    return PartNames(kind, about, locate(kind, home, **requests))


_PLAN: Final = {"dry_run": True}
_SERVED: Final = "amgs.types:ServedPlan"
_ANSWERED: Final = """Log which blocks of the latest frame for a query an answer used: those that it cites by their ids,
and those with which it shares more words than chance gives. Raises UsageError where no frame was assembled for it.
"""
_EVERY: Final = 1_000_000_000
"""More than there are."""

MEMORY: Final = locate(
    "MemoryClient",
    "amgs.memory:Memory",
    ingest=own_requests.ingest,
    add=own_requests.add,
    ingest_text=own_requests.ingest_text,
    ingest_texts=own_requests.ingest_texts,
    search=derive(
        "search",
        change=own_requests.write_conditions,
        without=("keep",),
        layers="layer",
        says="{} Raises UsageError for a filter with a condition that the service does not take.",
    ),
    why=derive("why", change=own_requests.refuse_filter, says="{} The service takes no filter."),
    searches=derive("searches", "searches"),
    why_then=derive("searches_why"),
    assemble=derive("frame_assemble", change=own_requests.tell_look),
    context=derive("frame_assemble", change=own_requests.tell_look, frame="name"),
    frame_definitions=derive("frame_list", "definitions"),
    block=derive("block_show", "block", id_or_prefix="block"),
    find=derive("block_find", "blocks"),
    set_metadata=derive("block_set", "block", id="block", is_self_component="own"),
    tag=derive("block_tag", "block", id="block"),
    note=derive("block_note", "block", id="block"),
    add_edge=derive("edge_add", "edge", source="start", target="goal"),
    remove_edge=derive("edge_remove", source="start", target="goal"),
    reinforce=own_requests.reinforce,
    consolidate=derive("consolidate", own_requests.read_summary),
    plan_consolidation=derive("consolidate", also=_PLAN),
    operations=derive("operations", "operations"),
    undo=derive("undo"),
    redo=derive("redo", "operation"),
    decay_curve=derive("decay_curve"),
    forecast=derive("decay_forecast", says="{} The service gives the first 500."),
    feedback=derive("feedback", change=own_requests.word_verdict, useful="verdict", prediction_id="forecast"),
    outcomes=derive("calibration", own_requests.read_outcomes, also={"view": "forecasts"}),
    reliability=derive("calibration"),
    neighbourhood=derive("graph_neighbours"),
    centrality=derive("graph_centrality"),
    graph_stats=derive("graph_stats"),
    status=derive("status", "store", says="{} Its path is told only to who may operate it."),
    counts=derive("status", own_requests.read_counts),
    health=derive("health"),
    diversity=derive("metrics", also={"what": "diversity"}),
    verify=derive("verify"),
    call=call,
)
"""On the client itself."""

_NEIGHBOURHOOD: Final = derive("graph_neighbours", of="neighbourhood", relations="relation")
PARTS: Final[Mapping[str, PartNames]] = {
    "frames": part(
        "FramesCalls",
        "What can be assembled, and what has been.",
        "amgs.api.frames:Frames",
        assemble=MEMORY["assemble"],
        cached=derive("frame_cached"),
        history=derive("frame_history"),
        replay=derive("frame_replay"),
        why_then=derive("frame_why"),
        definitions=MEMORY["frame_definitions"],
        why=derive("why", without=("made",), name="frame"),
        reset=derive("frame_reset"),
        delete=derive("frame_delete"),
    ),
    "conversation": part(
        "ConversationsCalls",
        "Conversations that are kept whole, and what of one a model should read for a question.",
        "amgs.api.conversation:Conversations",
        add=derive("conversation_add", change=own_requests.write_messages),
        show=derive("conversation_show", "messages", also={"limit": _EVERY}),
        optimise=derive("conversation_optimise"),
        survival=derive("conversation_survival"),
        validate=derive("conversation_validate"),
        restore=derive("conversation_restore"),
        topics=derive("conversation_show", also={"view": "topics"}),
        memories=derive("conversation_show", also={"view": "memories"}),
        acts=derive("conversation_show", also={"view": "acts"}),
        summary=derive("conversation_show", also={"view": "summary"}),
        keep=derive("conversation_keep"),
        resolve=derive("conversation_resolve"),
        mentions=derive("conversation_show", "mentions", also={"view": "mentions", "limit": _EVERY}),
        entities=derive("conversation_show", also={"view": "entities", "limit": _EVERY}, type="kind"),
        stats=derive("conversation_show", also={"view": "stats"}),
        clear=derive("conversation_clear"),
        list=derive("conversation_list", "conversations"),
    ),
    "gateway": part(
        "GatewayLogCalls",
        "What agents asked their model through the gateway, and what the model read when it answered.",
        "amgs.api.gateway:GatewayLog",
        exchanges=derive("conversation_exchanges", "exchanges"),
        exchange=derive("conversation_exchanges"),
    ),
    "entities": part(
        "EntitiesCalls",
        "People, organisations, places, projects and topics that the memory names.",
        "amgs.api.entities:Entities",
        list=derive("entity_list", "entities", type="kind"),
        get=derive("entity_show", without=("related",)),
    ),
    "graph": part(
        "GraphCalls",
        "What lies around a block, ways between blocks, groups of them.",
        "amgs.api.graph:Graph",
        neighbours=_NEIGHBOURHOOD,
        path=derive("graph_path"),
        communities=derive("graph_communities", without=("central",)),
        confirm_edge=derive("edge_add", "edge", also={"confirm": True}, source="start", target="goal"),
        centrality=MEMORY["centrality"],
        neighbourhood=_NEIGHBOURHOOD,
        stats=MEMORY["graph_stats"],
    ),
    "lifecycle": part(
        "LifecycleCalls",
        "Consolidation, enhancement, pruning, review, decay and undo.",
        "amgs.api.lifecycle:Lifecycle",
        status=MEMORY["status"],
        due=derive("inbox_due"),
        consolidate=MEMORY["consolidate"],
        plan_consolidation=MEMORY["plan_consolidation"],
        enhance=derive(
            "enhance",
            "operation",
            of="plan_enhancement",
            also={"apply": True},
            without=("model",),
            kinds="kind",
            says="Carry out what `plan_enhancement` proposes, in one journal entry.",
            gives="amgs.types:JournalEntry",
        ),
        plan_enhancement=derive("enhance", also=_PLAN, without=("model",), kinds="kind"),
        prune=derive(
            "prune",
            of="plan_pruning",
            without=("hard",),
            says="Mark what is faded, peripheral, unused and of low confidence as pruned; `undo` brings it back.",
            gives="amgs.lifecycle.prune:Pruned",
        ),
        plan_pruning=derive("prune", also=_PLAN),
        explain_pruning=derive("prune", block_id="explain"),
        calibrate=derive(
            "calibrate",
            of="amgs.api.calibration:Calibration.plan",
            says="Recalibrate the forecasts from their outcomes; `undo` takes it back.",
            gives="amgs.calibration.results:Calibrated",
        ),
        plan_review=derive("review_scan", also=_PLAN),
        reviews=derive("review_list", "items", says="{} 50 unless limited otherwise."),
        accept=derive("review_decide", also={"verdict": "accept"}),
        reject=derive("review_decide", also={"verdict": "reject"}),
        reinforce=MEMORY["reinforce"],
        decay_curve=MEMORY["decay_curve"],
        category_curves=derive("decay_categories"),
        preview_decay=derive("decay_curve"),
        forecast=MEMORY["forecast"],
        operations=MEMORY["operations"],
        plan_undo=derive("undo", also=_PLAN),
        undo=MEMORY["undo"],
        redo=MEMORY["redo"],
        operation=derive("operations"),
    ),
    "erasure": part(
        "ErasureCalls",
        "Blocks taken out for good, with a receipt.",
        "amgs.api.erasure:Erasure",
        erase=derive(
            "block_delete",
            also={"hard": True, "yes": True},
            ids="blocks",
            says="{} Needs the right to operate.",
        ),
        plan=derive("block_delete", also=_PLAN, ids="blocks"),
    ),
    "plans": part(
        "PlansCalls",
        "Changes that are looked at first, applied if nothing else has changed since, and taken back.",
        "amgs.api.lifecycle:Lifecycle",
        journal=own_requests.journal,
        undo=MEMORY["undo"],
        redo=MEMORY["redo"],
        consolidate=derive(
            "/v1/plans/consolidate",
            of="amgs.memory:Memory.plan_consolidation",
            says="Plan a consolidation of the inbox, which the service keeps for an hour; changes nothing.",
            gives=_SERVED,
        ),
        enhance=derive(
            "/v1/plans/enhance",
            of="plan_enhancement",
            without=("model",),
            kinds="kind",
            says="Plan what could be better, which the service keeps for an hour; changes nothing.",
            gives=_SERVED,
        ),
        prune=derive(
            "/v1/plans/prune",
            of="plan_pruning",
            without=("hard",),
            says="Plan a pruning, which the service keeps for an hour; changes nothing.",
            gives=_SERVED,
        ),
        revision=own_requests.hold_revision,
        apply=own_requests.apply_plan,
    ),
    "calibration": part(
        "CalibrationCalls",
        "Learning from outcomes.",
        "amgs.api.calibration:Calibration",
        feedback=MEMORY["feedback"],
        outcomes=MEMORY["outcomes"],
        reliability=MEMORY["reliability"],
        note_answer=derive(
            "feedback", "uses", also={"verdict": "answered"}, without=("shown", "beside"), says=_ANSWERED
        ),
        answers=derive("calibration", "uses", also={"view": "answers"}),
        plan=derive("calibrate", also=_PLAN),
    ),
    "sources": part(
        "SourcesCalls",
        "Where texts came from, and what became of them.",
        "amgs.api.sources:SourceLibrary",
        plan_text=derive(
            "source_update",
            also=_PLAN,
            name="source",
            says="{} Changes nothing; `plans.revision` has the service keep the plan.",
        ),
        plan_delete=derive("source_delete", also=_PLAN, names="source"),
        list=derive("source_list", "sources", also={"limit": _EVERY}),
        history=derive("source_show", "pieces", also={"limit": _EVERY}, name="source"),
        update=derive(
            "source_update",
            of="plan_text",
            name="source",
            says="Take in a source's new text, and end what it no longer says; `undo` takes it back.",
            gives="amgs.lifecycle.revision:Revision",
        ),
        delete=derive(
            "source_delete",
            of="plan_delete",
            names="source",
            says="Take sources out: what no other source holds is archived; `undo` brings it back.",
            gives="amgs.lifecycle.revision:Revision",
        ),
    ),
    "diagnosis": part(
        "DiagnosisCalls",
        "Why an answer missed a fact, and what would bring it in.",
        "amgs.diagnosis.diagnosing:Diagnosing",
        diagnose=derive("diagnose", change=own_requests.drop_unknown, without=("read",)),
        fix=derive("fix", change=own_requests.drop_unknown),
    ),
    "simulation": part(
        "SimulationCalls",
        "What may become of the memory, drawn many times; each needs the right to operate.",
        "amgs.api.simulation:Simulation",
        evolve=derive("montecarlo", also={"simulation": "evolve"}, without=("seed",)),
        prune=derive(
            "montecarlo",
            also={"simulation": "prune"},
            without=("seed", "questions"),
            thresholds="threshold",
        ),
        insert=derive("montecarlo", also={"simulation": "insert"}, without=("seed",)),
        stability=derive("montecarlo", also={"simulation": "stability"}, without=("seed",), paces="pace"),
    ),
    **{
        name: part(wing.calls, wing.about, wing.part, **loaded(wing.requests))
        for name, wing in wings().items()
    },
}
"""By the name on the client."""

ALIASES: Final[Mapping[str, tuple[str, str]]] = {
    "frame": ("frames", "The same as `frames`, by the name that the REST paths have.")
}
"""Other names of parts, and what is said of them."""
