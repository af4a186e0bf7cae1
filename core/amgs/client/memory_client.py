"""`MemoryClient`: a served memory, asked from a program that waits for each answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from amgs import extras
from amgs.client import calls, conversation_calls, diagnosis_calls, pack_calls
from amgs.client import part_calls as parts
from amgs.client.ask import Ask, Blocking, SendsNow
from amgs.client.connection import ADDRESS, TIMEOUT, any_operation, connection, lost
from amgs.client.exchange import Lost, Step, Wait, steps

if TYPE_CHECKING:
    from typing import Self

    import httpx2

R = TypeVar("R")


class _Part:
    """Some calls of a client, by subject."""

    def __init__(self, client: SendsNow) -> None:
        self._client = client

    def send(self, ask: Ask[R]) -> R:
        """The answer to a request."""
        return self._client.send(ask)


class FramesCalls(_Part):
    """What can be assembled, and what has been."""

    assemble = Blocking(calls.assemble)
    definitions = Blocking(calls.frame_definitions)
    cached = Blocking(parts.cached)
    history = Blocking(parts.history)
    replay = Blocking(parts.replay)
    why = Blocking(parts.why_frame)
    why_then = Blocking(parts.why_then)
    reset = Blocking(parts.reset_frame)
    delete = Blocking(parts.delete_frame)


class ConversationsCalls(_Part):
    """Conversations that are kept whole, and what of one a model should read for a question."""

    add = Blocking(conversation_calls.add)
    list = Blocking(conversation_calls.list_conversations)
    show = Blocking(conversation_calls.show)
    optimise = Blocking(conversation_calls.optimise)
    restore = Blocking(conversation_calls.restore)
    survival = Blocking(conversation_calls.survival)
    validate = Blocking(conversation_calls.validate)
    topics = Blocking(conversation_calls.topics)
    acts = Blocking(conversation_calls.acts)
    memories = Blocking(conversation_calls.memories)
    summary = Blocking(conversation_calls.summary)
    keep = Blocking(conversation_calls.keep)
    resolve = Blocking(conversation_calls.resolve)
    mentions = Blocking(conversation_calls.mentions)
    entities = Blocking(conversation_calls.entities)
    stats = Blocking(conversation_calls.stats)
    clear = Blocking(conversation_calls.clear)


class PacksCalls(_Part):
    """Frames that are kept under a name, versioned, read again, and judged."""

    keep = Blocking(pack_calls.keep)
    list = Blocking(pack_calls.list_packs)
    show = Blocking(pack_calls.show)
    diff = Blocking(pack_calls.diff)
    use = Blocking(pack_calls.use)
    route = Blocking(pack_calls.route)
    graph = Blocking(pack_calls.graph)
    assemble = Blocking(pack_calls.assemble)
    sentences = Blocking(pack_calls.sentences)
    learn = Blocking(pack_calls.learn)
    restore = Blocking(pack_calls.restore)
    intent = Blocking(pack_calls.intent)
    judge = Blocking(pack_calls.judge)
    uses = Blocking(pack_calls.uses)
    forecast = Blocking(pack_calls.forecast)
    course = Blocking(pack_calls.course)
    forget = Blocking(pack_calls.forget)
    habits = Blocking(pack_calls.habits)
    retire = Blocking(pack_calls.retire)
    propose = Blocking(pack_calls.propose)
    proposals = Blocking(pack_calls.proposals)
    policy = Blocking(pack_calls.policy)
    credit = Blocking(pack_calls.credit)
    weights = Blocking(pack_calls.weights)
    accept = Blocking(pack_calls.accept)
    reject = Blocking(pack_calls.reject)


class GatewayLogCalls(_Part):
    """What agents asked their model through the gateway, and what the model read when it answered."""

    exchanges = Blocking(conversation_calls.gateway_exchanges)
    exchange = Blocking(conversation_calls.gateway_exchange)


class TasksCalls(_Part):
    """What workers are asked to do, who does it, and what came of it."""

    list = Blocking(parts.list_tasks)
    enqueue = Blocking(parts.enqueue_tasks)
    retry = Blocking(parts.retry_tasks)


class EntitiesCalls(_Part):
    """People, organisations, places, projects and topics that the memory names."""

    list = Blocking(parts.list_entities)
    get = Blocking(parts.get_entity)


class GraphCalls(_Part):
    """What lies around a block, ways between blocks, groups of them."""

    neighbours = Blocking(parts.neighbours)
    neighbourhood = Blocking(parts.neighbours)
    path = Blocking(parts.path)
    communities = Blocking(parts.communities)
    confirm_edge = Blocking(parts.confirm_edge)
    causes = Blocking(parts.causes)
    centrality = Blocking(calls.centrality)
    stats = Blocking(calls.graph_stats)


class LifecycleCalls(_Part):
    """Consolidation, enhancement, pruning, review, decay and undo."""

    status = Blocking(calls.status)
    due = Blocking(parts.due)
    consolidate = Blocking(calls.consolidate)
    plan_consolidation = Blocking(calls.plan_consolidation)
    enhance = Blocking(parts.enhance)
    plan_enhancement = Blocking(parts.plan_enhancement)
    prune = Blocking(parts.prune)
    plan_pruning = Blocking(parts.plan_pruning)
    explain_pruning = Blocking(parts.explain_pruning)
    calibrate = Blocking(parts.calibrate)
    plan_review = Blocking(parts.plan_review)
    reviews = Blocking(parts.reviews)
    accept = Blocking(parts.accept)
    reject = Blocking(parts.reject)
    reinforce = Blocking(calls.reinforce)
    decay_curve = Blocking(calls.decay_curve)
    category_curves = Blocking(parts.category_curves)
    preview_decay = Blocking(parts.preview_decay)
    forecast = Blocking(calls.forecast)
    operations = Blocking(calls.operations)
    operation = Blocking(parts.operation_detail)
    plan_undo = Blocking(parts.plan_undo)
    undo = Blocking(calls.undo)
    redo = Blocking(calls.redo)


class ErasureCalls(_Part):
    """Blocks taken out for good, with a receipt."""

    plan = Blocking(parts.plan_erasure)
    erase = Blocking(parts.erase)


class IndexCalls(_Part):
    """The search index outside the process."""

    build = Blocking(parts.build_index)
    status = Blocking(parts.index_status)


class PlansCalls(_Part):
    """Changes that are looked at first, applied if nothing else has changed since, and taken back."""

    consolidate = Blocking(parts.hold_consolidation)
    enhance = Blocking(parts.hold_enhancement)
    prune = Blocking(parts.hold_pruning)
    revision = Blocking(parts.hold_revision)
    apply = Blocking(parts.apply_plan)
    journal = Blocking(parts.journal)
    undo = Blocking(calls.undo)
    redo = Blocking(calls.redo)


class CalibrationCalls(_Part):
    """Learning from outcomes."""

    feedback = Blocking(calls.feedback)
    outcomes = Blocking(calls.outcomes)
    reliability = Blocking(calls.reliability)
    plan = Blocking(parts.plan_calibration)


class SourcesCalls(_Part):
    """Where texts came from, and what became of them."""

    list = Blocking(parts.list_sources)
    history = Blocking(parts.source_history)
    plan_text = Blocking(parts.plan_text)
    update = Blocking(parts.update_source)
    plan_delete = Blocking(parts.plan_delete)
    delete = Blocking(parts.delete_sources)


class DiagnosisCalls(_Part):
    """Why an answer missed a fact, and what would bring it in."""

    diagnose = Blocking(diagnosis_calls.diagnose)
    fix = Blocking(diagnosis_calls.fix)


class SimulationCalls(_Part):
    """What may become of the memory, drawn many times."""

    evolve = Blocking(parts.simulate_evolution)
    prune = Blocking(parts.simulate_pruning)
    insert = Blocking(parts.simulate_insertion)
    stability = Blocking(parts.simulate_stability)


class MemoryClient:
    """A served memory, by the names that `Memory` has in the process.

    Answers are the engine's own frozen values, and what the engine would raise is raised here; a service that does not
    answer raises UnreachableError. Requests that may be repeated are tried again, with growing waits that chance
    spreads; one that changes the memory carries an idempotency key, so that trying again does nothing twice.

    Use it as a context manager, or close it. It may be called from any thread.
    """

    def __init__(
        self,
        base_url: str = ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        timeout: float | None = TIMEOUT,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """base_url: where `amgs serve` listens. token: from `amgs token new`; none is needed where the service asks for
        none. namespace: the token's first unless given. timeout: seconds for one attempt, None to wait without end.
        retries: how often a request is tried again. sleep, chance: what waits, and numbers in [0, 1) that spread the
        waits. Raises UsageError for an address that is none, MissingExtraError without the extra `client`.
        """
        self._connection = connection(base_url, token, namespace, timeout, retries, chance)
        self._sleep = sleep
        with extras.explained():
            import httpx2
        self._http = httpx2.Client(base_url=self._connection.base_url, timeout=timeout, trust_env=False)
        self._owns = True

    ingest = Blocking(calls.ingest)
    add = Blocking(calls.add)
    ingest_text = Blocking(calls.ingest_text)
    ingest_texts = Blocking(calls.ingest_texts)
    search = Blocking(calls.search)
    searches = Blocking(calls.searches)
    why = Blocking(calls.why)
    why_then = Blocking(calls.why_then)
    assemble = Blocking(calls.assemble)
    context = Blocking(calls.context)
    frame_definitions = Blocking(calls.frame_definitions)
    block = Blocking(calls.block)
    find = Blocking(calls.find)
    set_metadata = Blocking(calls.set_metadata)
    tag = Blocking(calls.tag)
    note = Blocking(calls.note)
    add_edge = Blocking(calls.add_edge)
    remove_edge = Blocking(calls.remove_edge)
    reinforce = Blocking(calls.reinforce)
    consolidate = Blocking(calls.consolidate)
    plan_consolidation = Blocking(calls.plan_consolidation)
    operations = Blocking(calls.operations)
    undo = Blocking(calls.undo)
    redo = Blocking(calls.redo)
    decay_curve = Blocking(calls.decay_curve)
    forecast = Blocking(calls.forecast)
    feedback = Blocking(calls.feedback)
    outcomes = Blocking(calls.outcomes)
    reliability = Blocking(calls.reliability)
    neighbourhood = Blocking(calls.neighbourhood)
    centrality = Blocking(calls.centrality)
    graph_stats = Blocking(calls.graph_stats)
    status = Blocking(calls.status)
    counts = Blocking(calls.counts)
    health = Blocking(calls.health)
    diversity = Blocking(calls.diversity)
    verify = Blocking(calls.verify)

    @property
    def frames(self) -> FramesCalls:
        """What can be assembled, and what has been."""
        return FramesCalls(self)

    @property
    def frame(self) -> FramesCalls:
        """The same as `frames`, by the name that the REST paths have."""
        return self.frames

    @property
    def conversation(self) -> ConversationsCalls:
        """Conversations that are kept whole, and what of one a model should read for a question."""
        return ConversationsCalls(self)

    @property
    def gateway(self) -> GatewayLogCalls:
        """What agents asked their model through the gateway, and what the model read when it answered."""
        return GatewayLogCalls(self)

    @property
    def tasks(self) -> TasksCalls:
        """What workers are asked to do, who does it, and what came of it."""
        return TasksCalls(self)

    @property
    def packs(self) -> PacksCalls:
        """Frames that are kept under a name, versioned, read again, and judged."""
        return PacksCalls(self)

    @property
    def entities(self) -> EntitiesCalls:
        """People, organisations, places, projects and topics that the memory names."""
        return EntitiesCalls(self)

    @property
    def graph(self) -> GraphCalls:
        """What lies around a block, ways between blocks, groups of them."""
        return GraphCalls(self)

    @property
    def lifecycle(self) -> LifecycleCalls:
        """Consolidation, enhancement, pruning, review, decay and undo."""
        return LifecycleCalls(self)

    @property
    def erasure(self) -> ErasureCalls:
        """Blocks taken out for good, with a receipt."""
        return ErasureCalls(self)

    @property
    def index(self) -> IndexCalls:
        """The search index outside the process: built, and how far it is behind."""
        return IndexCalls(self)

    @property
    def plans(self) -> PlansCalls:
        """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
        return PlansCalls(self)

    @property
    def calibration(self) -> CalibrationCalls:
        """Learning from outcomes."""
        return CalibrationCalls(self)

    @property
    def sources(self) -> SourcesCalls:
        """Where texts came from, and what became of them."""
        return SourcesCalls(self)

    @property
    def diagnosis(self) -> DiagnosisCalls:
        """Why an answer missed a fact, and what would bring it in."""
        return DiagnosisCalls(self)

    @property
    def simulation(self) -> SimulationCalls:
        """What may become of the memory, drawn many times."""
        return SimulationCalls(self)

    def using(self, *, namespace: str | None = None, idempotency_key: str | None = None) -> MemoryClient:
        """This client for another namespace, or with a key of one's own for one request that must not be done twice,
        even when this program ends before the answer comes and sends it again. Closing it closes nothing.
        """
        made = object.__new__(MemoryClient)
        made._connection = self._connection.using(namespace, idempotency_key)
        made._sleep, made._http, made._owns = self._sleep, self._http, False
        return made

    def call(
        self, name: str, /, *, packages: Collection[str] = (), writes: bool = True, **arguments: Any
    ) -> Any:
        """Any operation of the service by its name, such as `frame compare`, with its parameters.

        Answers in plain JSON, as the command line prints with `--format json`; with packages (`{"amgs"}`), as frozen
        values of theirs. writes: False for a request that changes nothing, which needs no idempotency key.
        """
        return self.send(any_operation(name, arguments, packages, writes=writes))

    def send(self, ask: Ask[R]) -> R:
        """The answer to a request; raises what the engine in the process would raise, or ServiceError."""
        held = self._connection
        run = steps(ask, held.headers(ask), held.rules, held.chance, held.base_url)
        try:
            step = next(run)
            while True:
                step = run.send(self._do(step))
        except StopIteration as stop:
            answer: R = stop.value
            return answer

    def _do(self, step: Step) -> httpx2.Response | Lost | None:
        if isinstance(step, Wait):
            self._sleep(step.seconds)
            return None
        import httpx2

        try:
            return self._http.request(
                step.method,
                step.path,
                params=step.query,
                content=step.body,
                headers=dict(step.headers),
            )
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            return lost(error)

    def close(self) -> None:
        """Close the connections."""
        if self._owns:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
