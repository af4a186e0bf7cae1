"""`AsyncMemoryClient`: a served memory, asked from a program that does other things while it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from amgs import extras
from amgs.client import calls, conversation_calls, diagnosis_calls, pack_calls
from amgs.client import part_calls as parts
from amgs.client.ask import Ask, Awaited, SendsLater
from amgs.client.connection import ADDRESS, TIMEOUT, any_operation, connection, lost
from amgs.client.exchange import Lost, Step, Wait, steps

if TYPE_CHECKING:
    from typing import Self

    import httpx2

R = TypeVar("R")


class _Part:
    """Some calls of a client, by subject."""

    def __init__(self, client: SendsLater) -> None:
        self._client = client

    async def send(self, ask: Ask[R]) -> R:
        """The answer to a request."""
        return await self._client.send(ask)


class AsyncFramesCalls(_Part):
    """What can be assembled, and what has been."""

    assemble = Awaited(calls.assemble)
    definitions = Awaited(calls.frame_definitions)
    cached = Awaited(parts.cached)
    history = Awaited(parts.history)
    replay = Awaited(parts.replay)
    why = Awaited(parts.why_frame)
    why_then = Awaited(parts.why_then)
    reset = Awaited(parts.reset_frame)
    delete = Awaited(parts.delete_frame)


class AsyncConversationsCalls(_Part):
    """Conversations that are kept whole, and what of one a model should read for a question."""

    add = Awaited(conversation_calls.add)
    list = Awaited(conversation_calls.list_conversations)
    show = Awaited(conversation_calls.show)
    optimise = Awaited(conversation_calls.optimise)
    restore = Awaited(conversation_calls.restore)
    survival = Awaited(conversation_calls.survival)
    validate = Awaited(conversation_calls.validate)
    topics = Awaited(conversation_calls.topics)
    acts = Awaited(conversation_calls.acts)
    memories = Awaited(conversation_calls.memories)
    summary = Awaited(conversation_calls.summary)
    keep = Awaited(conversation_calls.keep)
    resolve = Awaited(conversation_calls.resolve)
    mentions = Awaited(conversation_calls.mentions)
    entities = Awaited(conversation_calls.entities)
    stats = Awaited(conversation_calls.stats)
    clear = Awaited(conversation_calls.clear)


class AsyncPacksCalls(_Part):
    """Frames that are kept under a name, versioned, read again, and judged."""

    keep = Awaited(pack_calls.keep)
    list = Awaited(pack_calls.list_packs)
    show = Awaited(pack_calls.show)
    diff = Awaited(pack_calls.diff)
    use = Awaited(pack_calls.use)
    route = Awaited(pack_calls.route)
    graph = Awaited(pack_calls.graph)
    assemble = Awaited(pack_calls.assemble)
    sentences = Awaited(pack_calls.sentences)
    learn = Awaited(pack_calls.learn)
    restore = Awaited(pack_calls.restore)
    intent = Awaited(pack_calls.intent)
    judge = Awaited(pack_calls.judge)
    uses = Awaited(pack_calls.uses)
    forecast = Awaited(pack_calls.forecast)
    course = Awaited(pack_calls.course)
    forget = Awaited(pack_calls.forget)
    habits = Awaited(pack_calls.habits)
    retire = Awaited(pack_calls.retire)
    propose = Awaited(pack_calls.propose)
    proposals = Awaited(pack_calls.proposals)
    policy = Awaited(pack_calls.policy)
    credit = Awaited(pack_calls.credit)
    weights = Awaited(pack_calls.weights)
    accept = Awaited(pack_calls.accept)
    reject = Awaited(pack_calls.reject)


class AsyncGatewayLogCalls(_Part):
    """What agents asked their model through the gateway, and what the model read when it answered."""

    exchanges = Awaited(conversation_calls.gateway_exchanges)
    exchange = Awaited(conversation_calls.gateway_exchange)


class AsyncTasksCalls(_Part):
    """What workers are asked to do, who does it, and what came of it."""

    list = Awaited(parts.list_tasks)
    enqueue = Awaited(parts.enqueue_tasks)
    retry = Awaited(parts.retry_tasks)


class AsyncEntitiesCalls(_Part):
    """People, organisations, places, projects and topics that the memory names."""

    list = Awaited(parts.list_entities)
    get = Awaited(parts.get_entity)


class AsyncGraphCalls(_Part):
    """What lies around a block, ways between blocks, groups of them."""

    neighbours = Awaited(parts.neighbours)
    neighbourhood = Awaited(parts.neighbours)
    path = Awaited(parts.path)
    communities = Awaited(parts.communities)
    confirm_edge = Awaited(parts.confirm_edge)
    causes = Awaited(parts.causes)
    centrality = Awaited(calls.centrality)
    stats = Awaited(calls.graph_stats)


class AsyncLifecycleCalls(_Part):
    """Consolidation, enhancement, pruning, review, decay and undo."""

    status = Awaited(calls.status)
    due = Awaited(parts.due)
    consolidate = Awaited(calls.consolidate)
    plan_consolidation = Awaited(calls.plan_consolidation)
    enhance = Awaited(parts.enhance)
    plan_enhancement = Awaited(parts.plan_enhancement)
    prune = Awaited(parts.prune)
    plan_pruning = Awaited(parts.plan_pruning)
    explain_pruning = Awaited(parts.explain_pruning)
    calibrate = Awaited(parts.calibrate)
    plan_review = Awaited(parts.plan_review)
    reviews = Awaited(parts.reviews)
    accept = Awaited(parts.accept)
    reject = Awaited(parts.reject)
    reinforce = Awaited(calls.reinforce)
    decay_curve = Awaited(calls.decay_curve)
    category_curves = Awaited(parts.category_curves)
    preview_decay = Awaited(parts.preview_decay)
    forecast = Awaited(calls.forecast)
    operations = Awaited(calls.operations)
    operation = Awaited(parts.operation_detail)
    plan_undo = Awaited(parts.plan_undo)
    undo = Awaited(calls.undo)
    redo = Awaited(calls.redo)


class AsyncErasureCalls(_Part):
    """Blocks taken out for good, with a receipt."""

    plan = Awaited(parts.plan_erasure)
    erase = Awaited(parts.erase)


class AsyncIndexCalls(_Part):
    """The search index outside the process."""

    build = Awaited(parts.build_index)
    status = Awaited(parts.index_status)


class AsyncPlansCalls(_Part):
    """Changes that are looked at first, applied if nothing else has changed since, and taken back."""

    consolidate = Awaited(parts.hold_consolidation)
    enhance = Awaited(parts.hold_enhancement)
    prune = Awaited(parts.hold_pruning)
    revision = Awaited(parts.hold_revision)
    apply = Awaited(parts.apply_plan)
    journal = Awaited(parts.journal)
    undo = Awaited(calls.undo)
    redo = Awaited(calls.redo)


class AsyncCalibrationCalls(_Part):
    """Learning from outcomes."""

    feedback = Awaited(calls.feedback)
    outcomes = Awaited(calls.outcomes)
    reliability = Awaited(calls.reliability)
    plan = Awaited(parts.plan_calibration)


class AsyncSourcesCalls(_Part):
    """Where texts came from, and what became of them."""

    list = Awaited(parts.list_sources)
    history = Awaited(parts.source_history)
    plan_text = Awaited(parts.plan_text)
    update = Awaited(parts.update_source)
    plan_delete = Awaited(parts.plan_delete)
    delete = Awaited(parts.delete_sources)


class AsyncDiagnosisCalls(_Part):
    """Why an answer missed a fact, and what would bring it in."""

    diagnose = Awaited(diagnosis_calls.diagnose)
    fix = Awaited(diagnosis_calls.fix)


class AsyncSimulationCalls(_Part):
    """What may become of the memory, drawn many times."""

    evolve = Awaited(parts.simulate_evolution)
    prune = Awaited(parts.simulate_pruning)
    insert = Awaited(parts.simulate_insertion)
    stability = Awaited(parts.simulate_stability)


class AsyncMemoryClient:
    """A served memory, by the names that `Memory` has in the process.

    Answers are the engine's own frozen values, and what the engine would raise is raised here; a service that does not
    answer raises UnreachableError. Requests that may be repeated are tried again, with growing waits that chance
    spreads; one that changes the memory carries an idempotency key, so that trying again does nothing twice.

    Use it as an asynchronous context manager, or close it; in one event loop.
    """

    def __init__(
        self,
        base_url: str = ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        timeout: float | None = TIMEOUT,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
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
        self._http = httpx2.AsyncClient(base_url=self._connection.base_url, timeout=timeout, trust_env=False)
        self._owns = True

    ingest = Awaited(calls.ingest)
    add = Awaited(calls.add)
    ingest_text = Awaited(calls.ingest_text)
    ingest_texts = Awaited(calls.ingest_texts)
    search = Awaited(calls.search)
    searches = Awaited(calls.searches)
    why = Awaited(calls.why)
    why_then = Awaited(calls.why_then)
    assemble = Awaited(calls.assemble)
    context = Awaited(calls.context)
    frame_definitions = Awaited(calls.frame_definitions)
    block = Awaited(calls.block)
    find = Awaited(calls.find)
    set_metadata = Awaited(calls.set_metadata)
    tag = Awaited(calls.tag)
    note = Awaited(calls.note)
    add_edge = Awaited(calls.add_edge)
    remove_edge = Awaited(calls.remove_edge)
    reinforce = Awaited(calls.reinforce)
    consolidate = Awaited(calls.consolidate)
    plan_consolidation = Awaited(calls.plan_consolidation)
    operations = Awaited(calls.operations)
    undo = Awaited(calls.undo)
    redo = Awaited(calls.redo)
    decay_curve = Awaited(calls.decay_curve)
    forecast = Awaited(calls.forecast)
    feedback = Awaited(calls.feedback)
    outcomes = Awaited(calls.outcomes)
    reliability = Awaited(calls.reliability)
    neighbourhood = Awaited(calls.neighbourhood)
    centrality = Awaited(calls.centrality)
    graph_stats = Awaited(calls.graph_stats)
    status = Awaited(calls.status)
    counts = Awaited(calls.counts)
    health = Awaited(calls.health)
    diversity = Awaited(calls.diversity)
    verify = Awaited(calls.verify)

    @property
    def frames(self) -> AsyncFramesCalls:
        """What can be assembled, and what has been."""
        return AsyncFramesCalls(self)

    @property
    def frame(self) -> AsyncFramesCalls:
        """The same as `frames`, by the name that the REST paths have."""
        return self.frames

    @property
    def conversation(self) -> AsyncConversationsCalls:
        """Conversations that are kept whole, and what of one a model should read for a question."""
        return AsyncConversationsCalls(self)

    @property
    def gateway(self) -> AsyncGatewayLogCalls:
        """What agents asked their model through the gateway, and what the model read when it answered."""
        return AsyncGatewayLogCalls(self)

    @property
    def tasks(self) -> AsyncTasksCalls:
        """What workers are asked to do, who does it, and what came of it."""
        return AsyncTasksCalls(self)

    @property
    def packs(self) -> AsyncPacksCalls:
        """Frames that are kept under a name, versioned, read again, and judged."""
        return AsyncPacksCalls(self)

    @property
    def entities(self) -> AsyncEntitiesCalls:
        """People, organisations, places, projects and topics that the memory names."""
        return AsyncEntitiesCalls(self)

    @property
    def graph(self) -> AsyncGraphCalls:
        """What lies around a block, ways between blocks, groups of them."""
        return AsyncGraphCalls(self)

    @property
    def lifecycle(self) -> AsyncLifecycleCalls:
        """Consolidation, enhancement, pruning, review, decay and undo."""
        return AsyncLifecycleCalls(self)

    @property
    def erasure(self) -> AsyncErasureCalls:
        """Blocks taken out for good, with a receipt."""
        return AsyncErasureCalls(self)

    @property
    def index(self) -> AsyncIndexCalls:
        """The search index outside the process: built, and how far it is behind."""
        return AsyncIndexCalls(self)

    @property
    def plans(self) -> AsyncPlansCalls:
        """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
        return AsyncPlansCalls(self)

    @property
    def calibration(self) -> AsyncCalibrationCalls:
        """Learning from outcomes."""
        return AsyncCalibrationCalls(self)

    @property
    def sources(self) -> AsyncSourcesCalls:
        """Where texts came from, and what became of them."""
        return AsyncSourcesCalls(self)

    @property
    def diagnosis(self) -> AsyncDiagnosisCalls:
        """Why an answer missed a fact, and what would bring it in."""
        return AsyncDiagnosisCalls(self)

    @property
    def simulation(self) -> AsyncSimulationCalls:
        """What may become of the memory, drawn many times."""
        return AsyncSimulationCalls(self)

    def using(self, *, namespace: str | None = None, idempotency_key: str | None = None) -> AsyncMemoryClient:
        """This client for another namespace, or with a key of one's own for one request that must not be done twice,
        even when this program ends before the answer comes and sends it again. Closing it closes nothing.
        """
        made = object.__new__(AsyncMemoryClient)
        made._connection = self._connection.using(namespace, idempotency_key)
        made._sleep, made._http, made._owns = self._sleep, self._http, False
        return made

    async def call(
        self, name: str, /, *, packages: Collection[str] = (), writes: bool = True, **arguments: Any
    ) -> Any:
        """Any operation of the service by its name, such as `frame compare`, with its parameters.

        Answers in plain JSON, as the command line prints with `--format json`; with packages (`{"amgs"}`), as frozen
        values of theirs. writes: False for a request that changes nothing, which needs no idempotency key.
        """
        return await self.send(any_operation(name, arguments, packages, writes=writes))

    async def send(self, ask: Ask[R]) -> R:
        """The answer to a request; raises what the engine in the process would raise, or ServiceError."""
        held = self._connection
        run = steps(ask, held.headers(ask), held.rules, held.chance, held.base_url)
        try:
            step = next(run)
            while True:
                step = run.send(await self._do(step))
        except StopIteration as stop:
            answer: R = stop.value
            return answer

    async def _do(self, step: Step) -> httpx2.Response | Lost | None:
        if isinstance(step, Wait):
            await self._sleep(step.seconds)
            return None
        import httpx2

        try:
            return await self._http.request(
                step.method,
                step.path,
                params=step.query,
                content=step.body,
                headers=dict(step.headers),
            )
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            return lost(error)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owns:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()
