"""The names of both clients, once: which request stands behind each, on the client itself and on its parts.

`scripts/client_stubs.py` writes from this table what editors and type checkers read, `memory_client.pyi` and
`async_memory_client.pyi`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from amgs.client import calls, conversation_calls, diagnosis_calls, pack_calls, part_calls
from amgs.client.ask import Ask
from amgs.client.transport import call

Request = Callable[..., Ask[Any]]
"""What makes a request from the arguments of a method."""


@dataclass(frozen=True, slots=True)
class PartNames:
    """Requests on one subject. kind: the name of its class, with `Async` before it for the client that is awaited."""

    kind: str
    about: str
    requests: Mapping[str, Request]


def requests(*given: ModuleType | Request, **renamed: Request) -> Mapping[str, Request]:
    """Requests by the names that they have, those of modules too, or by the name that each is given."""
    found: dict[str, Request] = {}
    for each in given:
        if isinstance(each, ModuleType):
            own = (value for value in vars(each).values() if _makes_a_request(value, each))
            found |= {one.__name__: one for one in own if one not in renamed.values()}
        else:
            found[each.__name__] = each
    return found | renamed


def _makes_a_request(value: Any, module: ModuleType) -> bool:
    if getattr(value, "__module__", None) != module.__name__ or value.__name__.startswith("_"):
        return False
    return str(getattr(value, "__annotations__", {}).get("return")).startswith("Ask[")


MEMORY: Final = requests(calls, call)
"""On the client itself."""

PARTS: Final[Mapping[str, PartNames]] = {
    "frames": PartNames(
        "FramesCalls",
        "What can be assembled, and what has been.",
        requests(
            calls.assemble,
            part_calls.cached,
            part_calls.history,
            part_calls.replay,
            part_calls.why_then,
            definitions=calls.frame_definitions,
            why=part_calls.why_frame,
            reset=part_calls.reset_frame,
            delete=part_calls.delete_frame,
        ),
    ),
    "conversation": PartNames(
        "ConversationsCalls",
        "Conversations that are kept whole, and what of one a model should read for a question.",
        requests(conversation_calls, list=conversation_calls.list_conversations),
    ),
    "gateway": PartNames(
        "GatewayLogCalls",
        "What agents asked their model through the gateway, and what the model read when it answered.",
        requests(exchanges=part_calls.gateway_exchanges, exchange=part_calls.gateway_exchange),
    ),
    "tasks": PartNames(
        "TasksCalls",
        "What workers are asked to do, who does it, and what came of it.",
        requests(list=part_calls.list_tasks, enqueue=part_calls.enqueue_tasks, retry=part_calls.retry_tasks),
    ),
    "packs": PartNames(
        "PacksCalls",
        "Frames that are kept under a name, versioned, read again, and judged.",
        requests(pack_calls, list=pack_calls.list_packs),
    ),
    "entities": PartNames(
        "EntitiesCalls",
        "People, organisations, places, projects and topics that the memory names.",
        requests(list=part_calls.list_entities, get=part_calls.get_entity),
    ),
    "graph": PartNames(
        "GraphCalls",
        "What lies around a block, ways between blocks, groups of them.",
        requests(
            part_calls.neighbours,
            part_calls.path,
            part_calls.communities,
            part_calls.confirm_edge,
            part_calls.causes,
            calls.centrality,
            neighbourhood=part_calls.neighbours,
            stats=calls.graph_stats,
        ),
    ),
    "lifecycle": PartNames(
        "LifecycleCalls",
        "Consolidation, enhancement, pruning, review, decay and undo.",
        requests(
            calls.status,
            part_calls.due,
            calls.consolidate,
            calls.plan_consolidation,
            part_calls.enhance,
            part_calls.plan_enhancement,
            part_calls.prune,
            part_calls.plan_pruning,
            part_calls.explain_pruning,
            part_calls.calibrate,
            part_calls.plan_review,
            part_calls.reviews,
            part_calls.accept,
            part_calls.reject,
            calls.reinforce,
            calls.decay_curve,
            part_calls.category_curves,
            part_calls.preview_decay,
            calls.forecast,
            calls.operations,
            part_calls.plan_undo,
            calls.undo,
            calls.redo,
            operation=part_calls.operation_detail,
        ),
    ),
    "erasure": PartNames(
        "ErasureCalls",
        "Blocks taken out for good, with a receipt.",
        requests(part_calls.erase, plan=part_calls.plan_erasure),
    ),
    "index": PartNames(
        "IndexCalls",
        "The search index outside the process: built, and how far it is behind.",
        requests(build=part_calls.build_index, status=part_calls.index_status),
    ),
    "plans": PartNames(
        "PlansCalls",
        "Changes that are looked at first, applied if nothing else has changed since, and taken back.",
        requests(
            part_calls.journal,
            calls.undo,
            calls.redo,
            consolidate=part_calls.hold_consolidation,
            enhance=part_calls.hold_enhancement,
            prune=part_calls.hold_pruning,
            revision=part_calls.hold_revision,
            apply=part_calls.apply_plan,
        ),
    ),
    "calibration": PartNames(
        "CalibrationCalls",
        "Learning from outcomes.",
        requests(calls.feedback, calls.outcomes, calls.reliability, plan=part_calls.plan_calibration),
    ),
    "sources": PartNames(
        "SourcesCalls",
        "Where texts came from, and what became of them.",
        requests(
            part_calls.plan_text,
            part_calls.plan_delete,
            list=part_calls.list_sources,
            history=part_calls.source_history,
            update=part_calls.update_source,
            delete=part_calls.delete_sources,
        ),
    ),
    "diagnosis": PartNames(
        "DiagnosisCalls",
        "Why an answer missed a fact, and what would bring it in.",
        requests(diagnosis_calls),
    ),
    "simulation": PartNames(
        "SimulationCalls",
        "What may become of the memory, drawn many times.",
        requests(
            evolve=part_calls.simulate_evolution,
            prune=part_calls.simulate_pruning,
            insert=part_calls.simulate_insertion,
            stability=part_calls.simulate_stability,
        ),
    ),
}
"""By the name on the client."""

ALIASES: Final[Mapping[str, tuple[str, str]]] = {
    "frame": ("frames", "The same as `frames`, by the name that the REST paths have.")
}
"""Other names of parts, and what is said of them."""


class ClientPart:
    """Some calls of a client, by subject."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, ask: Ask[Any]) -> Any:
        """The answer to a request, or what is awaited for it."""
        return self._client.send(ask)


class ClientMethod:
    """A method from the description of its request; on the class itself it is that description."""

    def __init__(self, described: Request) -> None:
        self.described = described
        self.__doc__ = described.__doc__

    def __get__(self, owner: Any, kind: type[Any]) -> Callable[..., Any]:
        return self.described if owner is None else self.bound(owner)

    def bound(self, owner: Any) -> Callable[..., Any]:
        """The method of one client, or of a part of it."""
        raise NotImplementedError


class Blocking(ClientMethod):
    """A method that gives the answer."""

    def bound(self, owner: Any) -> Callable[..., Any]:
        """The method of one client, or of a part of it."""
        described = self.described

        @functools.wraps(described)
        def method(*args: Any, **kwargs: Any) -> Any:
            return owner.send(described(*args, **kwargs))

        return method


class Awaited(ClientMethod):
    """A method whose answer is awaited."""

    def bound(self, owner: Any) -> Callable[..., Any]:
        """The method of one client, or of a part of it."""
        described = self.described

        @functools.wraps(described)
        async def method(*args: Any, **kwargs: Any) -> Any:
            return await owner.send(described(*args, **kwargs))

        return method


def put_names_on(
    client: type[Any], method: type[ClientMethod], prefix: str = ""
) -> dict[str, type[ClientPart]]:
    """Give a client its methods and parts; gives the classes of the parts by name. prefix: of those names."""
    for name, described in MEMORY.items():
        setattr(client, name, method(described))
    made: dict[str, type[ClientPart]] = {}
    for name, part in PARTS.items():
        kind = prefix + part.kind
        members = {each: method(described) for each, described in part.requests.items()}
        more = {"__doc__": part.about, "__module__": client.__module__}
        made[kind] = type(kind, (ClientPart,), {**members, **more})
        setattr(client, name, _opening(made[kind], part.about))
    for name, (other, about) in ALIASES.items():
        setattr(client, name, _opening(made[prefix + PARTS[other].kind], about))
    return made


def _opening(kind: type[ClientPart], about: str) -> property:
    def part(client: Any) -> ClientPart:
        return kind(client)

    part.__annotations__["return"] = kind.__name__
    return property(part, doc=about)
