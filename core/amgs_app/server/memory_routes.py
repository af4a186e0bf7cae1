"""Ingest and delete over HTTP, whose forms differ from their operations' parameters; and plans: preview a
change, apply it if the memory is unchanged since, undo it.

Ingest answers 201 only after the journal is on disk.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from amgs.errors import InputError, NotFoundError, StaleError
from amgs.memory import Memory
from amgs.types import IngestReceipt, JournalEntry, JournalPage, PlanApplied, ServedPlan
from amgs_app.lifecycle.care_commands import Concern
from amgs_app.lifecycle.commands import collect_metadata
from amgs_app.server.asking import Asked, ByCaller, check_right
from amgs_app.server.hosting import Lane

router = APIRouter(tags=["memory"])

LONGEST: Final = 1_000_000
"""Characters of a text."""
MOST: Final = 1000
"""Texts of a request."""
SEARCHABLE: Final = "by words now, by meaning after consolidation"
SKEW: Final = timedelta(minutes=5)
"""How far a client's clock may be ahead of the server's."""


Text = Annotated[str, Field(min_length=1, max_length=LONGEST, description="Markdown or plain text.")]


class IngestItem(BaseModel):
    """A text, and what is known of it."""

    model_config = ConfigDict(extra="forbid")

    content: Text
    occurred_at: AwareDatetime | None = Field(
        default=None, description="When it happened or was written; now by default. Not in the future."
    )
    speaker: str = Field(default="", max_length=200, description="Who said or wrote it.")
    source: str = Field(default="", max_length=500, description="Where it comes from.")
    tags: tuple[str, ...] = Field(default=(), max_length=50)
    meta: dict[str, str] = Field(default_factory=dict, max_length=50, description="Other metadata.")
    replaces: tuple[str, ...] = Field(
        default=(), max_length=50, description="What it corrects: blocks by their ids, or by what they said."
    )


def _bare_too(schema: dict[str, Any]) -> None:
    """Change the schema so that the body may also be the content alone."""
    whole = dict(schema)
    schema.clear()
    schema |= {"title": whole["title"], "anyOf": [whole, *whole["properties"]["content"]["anyOf"]]}


class IngestRequest(BaseModel):
    """One text or many. What is said beside the content holds for each that does not say it itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_bare_too)

    content: Text | Annotated[list[Text | IngestItem], Field(min_length=1, max_length=MOST)]
    occurred_at: AwareDatetime | None = None
    speaker: str = Field(default="", max_length=200)
    source: str = Field(default="", max_length=500)
    tags: tuple[str, ...] = Field(default=(), max_length=50)
    meta: dict[str, str] = Field(default_factory=dict, max_length=50)
    replaces: tuple[str, ...] = Field(default=(), max_length=50)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """Accept a text, or an array of texts, as content without further fields."""
        return {"content": value} if isinstance(value, (str, list)) else value

    def items(self) -> list[IngestItem]:
        """Return the texts, each with the shared fields it does not set itself."""
        shared = self.model_dump(exclude={"content"})
        contents = self.content if isinstance(self.content, list) else [self.content]
        whole = [
            item.model_dump(exclude_unset=True) if isinstance(item, IngestItem) else {"content": item}
            for item in contents
        ]
        return [IngestItem(**(shared | item_fields)) for item_fields in whole]


@router.post(
    "/v1/memory/ingest",
    operation_id="post_memory_ingest",
    status_code=201,
    responses={200: {"description": "All of them were known."}},
    summary="Add one text, or many at once, to the inbox.",
)
async def ingest(asked: ByCaller, request: IngestRequest) -> Response:
    """Add texts as raw blocks to the inbox: `search` finds them by their words at once, by meaning after `consolidate`.

    Adds all of them or none.

    The same text again is the same block, so that a request can be repeated without harm.
    """
    check_right(asked, "write", "`ingest`")
    items = request.items()
    detail = f"{len(items)} texts" if len(items) > 1 else items[0].content[:80]
    # The content is the key: a text that is known is left alone.
    asked = replace(asked, key="")
    report = await asked.run("ingest", "write", lambda: ingest_items(asked, items), detail, changes=True)
    return asked.answer(report, 201 if report.added else 200)


@router.delete(
    "/v1/memory/{id}", operation_id="delete_memory", summary="Set a block aside as pruned, or erase it for good."
)
async def delete(
    asked: ByCaller,
    id: Annotated[str, Path(max_length=512)],
    hard: Annotated[bool, Query(description="Erase the text from the store; no undo.")] = False,
) -> Response:
    """Delete the block and return it: searches pass it over, and `undo` restores it.

    With `hard=true` its text is nowhere in the store afterwards, and the answer is a receipt: ids, the blocks that were
    merged or split from it, rows and indexes before and after, and the verification of the store.
    """
    check_right(asked, "operate" if hard else "write", "`block delete --hard`" if hard else "`block delete`")
    space = asked.namespace

    def work() -> Any:
        whole = space.engine.block(id).id
        if hard:
            return space.memory.erasure.erase([whole])
        return space.memory.set_metadata(whole, status="pruned")

    detail = f"{id} --hard" if hard else id
    lane: Lane = "long" if hard else "write"
    return asked.answer(await asked.run("block delete", lane, work, detail, changes=True))


def ingest_items(asked: Asked, items: list[IngestItem]) -> IngestReceipt:
    """Ingest the texts in a single transaction and return the receipt. Raises InputError for a time in the future."""
    memory = asked.namespace.memory
    now = memory.clock.now()
    texts = []
    for item in items:
        _check_time(item.occurred_at, now)
        extra = collect_metadata(item.speaker, item.tags, [f"{key}={value}" for key, value in item.meta.items()])
        if item.source:
            extra["source"] = item.source
        text = f"{item.speaker}: {item.content}" if item.speaker else item.content
        texts.append((text, item.occurred_at, extra))
    report = memory.ingest_texts(texts, [item.replaces for item in items])
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    return IngestReceipt(**values, durable_at=memory.clock.now(), searchable=SEARCHABLE)


def _check_time(occurred_at: datetime | None, now: datetime) -> None:
    """Raise InputError for a time later than the server's clock allows."""
    if occurred_at is not None and occurred_at > now + SKEW:
        raise InputError(
            f"{occurred_at.isoformat()} has not happened yet.",
            way_out="Give the instant at which it happened, or leave occurred_at out.",
        )


Kind = Literal["consolidate", "enhance", "prune", "revision"]
plan_router = APIRouter(tags=["plans"])

KEPT: Final = timedelta(hours=1)
MOST_PLANS: Final = 64
"""Plans stored per namespace; the oldest is dropped first."""
LISTED: Final = 100
"""Most journal entries named in a refusal."""


class PlanRequest(BaseModel):
    """Request for a plan.

    limit: maximum of blocks, or of proposals of a kind. kind: allowed proposals of enhancement. threshold, lowest: of
    pruning. source, text: a source and its current text, for a revision.
    """

    model_config = ConfigDict(extra="forbid")

    limit: int | None = Field(default=None, ge=1, le=1_000_000)
    kind: tuple[Concern, ...] = ()
    threshold: float | None = Field(default=None, ge=0, le=1)
    lowest: float | None = Field(default=None, ge=0, le=1)
    source: str = Field(default="", max_length=500)
    text: str = Field(default="", max_length=1_000_000)


@dataclass(frozen=True, slots=True)
class _StoredPlan:
    """A plan with the change counter, the latest journal entry and the time of its computation.

    It is stored for an hour, under an id that only its namespace knows. Applying it needs its change counter (`If-
    Match`); if the memory has changed, it is refused with the journal entries since.
    """

    kind: Kind
    plan: Any
    change: int
    latest: int
    at: datetime


@dataclass(frozen=True, slots=True)
class _PlanKind:
    """How a kind of plan is computed and applied, and the lane for it."""

    make: Callable[[Memory, PlanRequest], Any]
    apply: Callable[[Memory, Any], Any]
    lane: Lane


_PLAN_KINDS: Final[dict[str, _PlanKind]] = {
    "consolidate": _PlanKind(
        lambda memory, request: memory.plan_consolidation(limit=request.limit),
        lambda memory, plan: memory.apply_consolidation(plan),
        "long",
    ),
    "enhance": _PlanKind(
        lambda memory, request: memory.lifecycle.plan_enhancement(
            kinds=[concern.value for concern in request.kind], limit=request.limit
        ),
        lambda memory, plan: memory.lifecycle.apply_enhancement(plan),
        "long",
    ),
    "prune": _PlanKind(
        lambda memory, request: memory.lifecycle.plan_pruning(limit=request.limit, threshold=request.threshold),
        lambda memory, plan: memory.lifecycle.apply_pruning(plan),
        "read",
    ),
    "revision": _PlanKind(
        lambda memory, request: memory.sources.plan_text(request.source, request.text),
        lambda memory, plan: memory.sources.apply(plan),
        "read",
    ),
}


class Plans:
    """Plans waiting to be applied, by namespace and id. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], _StoredPlan] = {}

    def keep(self, namespace: str, plan: _StoredPlan) -> str:
        """Store a plan and return its id; drops expired plans of the namespace."""
        plan_id = secrets.token_hex(8)
        with self._lock:
            mine = [key for key in self._kept if key[0] == namespace]
            old = [key for key in mine if self._kept[key].at + KEPT < plan.at]
            for key in old or mine[: max(0, len(mine) - MOST_PLANS + 1)]:
                del self._kept[key]
            self._kept[namespace, plan_id] = plan
        return plan_id

    def get(self, namespace: str, id: str, now: datetime) -> _StoredPlan:
        """Return the plan with this id; raises NotFoundError if it is unknown or expired."""
        with self._lock:
            entry = self._kept.get((namespace, id))
        if entry is None or entry.at + KEPT < now:
            raise NotFoundError(
                "There is no such plan.", way_out="Plan anew: a plan is stored for an hour, until it is applied."
            )
        return entry

    def drop(self, namespace: str, id: str) -> None:
        """Delete a plan that was applied."""
        with self._lock:
            self._kept.pop((namespace, id), None)


@plan_router.post(
    "/v1/plans/{kind}", operation_id="post_plans", status_code=201, summary="Plan a change; nothing happens yet."
)
async def plan(asked: ByCaller, request: Request, kind: Kind, plan_request: PlanRequest) -> Response:
    """Return the effect of the change, under an id that can be applied. `ETag` is the memory's change counter."""
    check_right(asked, "write", f"`plan {kind}`")
    plan_kind = _PLAN_KINDS[kind]

    def work() -> ServedPlan:
        memory = asked.namespace.memory
        now, change, latest = memory.clock.now(), memory.change_counter, _latest(memory)
        new_plan = plan_kind.make(memory, plan_request)
        entry = _StoredPlan(kind, new_plan, change, latest, now)
        return ServedPlan(_plans(request).keep(asked.namespace.name, entry), kind, change, now + KEPT, new_plan)

    served_plan = await asked.run(f"plan {kind}", plan_kind.lane, work, kind, changes=False)
    return asked.answer(
        served_plan, 201, {"ETag": f'"{served_plan.change_counter}"', "Location": f"/v1/plans/{served_plan.id}"}
    )


@plan_router.get("/v1/plans/{id}", operation_id="get_plan", summary="A plan that waits to be applied.")
async def show(asked: ByCaller, request: Request, id: str) -> Response:
    """Return the plan unchanged."""

    def work() -> ServedPlan:
        entry = _plans(request).get(asked.namespace.name, id, asked.namespace.memory.clock.now())
        return ServedPlan(id, entry.kind, entry.change, entry.at + KEPT, entry.plan)

    served_plan = await asked.run("plan show", "read", work, id, changes=False)
    return asked.answer(served_plan, 200, {"ETag": f'"{served_plan.change_counter}"'})


@plan_router.post("/v1/plans/{id}/apply", operation_id="post_plan_apply", summary="Carry a plan out.")
async def apply(
    asked: ByCaller,
    request: Request,
    id: str,
    if_match: Annotated[
        str, Header(description="The plan's ETag; * to apply it if it still fits, whatever else changed.")
    ],
) -> Response:
    """Apply in a single transaction and one journal entry, which `undo` reverts.

    412 where the memory has changed since the plan was computed, with the journal entries since.
    """
    check_right(asked, "write", "`plan apply`")

    def work() -> PlanApplied:
        memory = asked.namespace.memory
        entry = _plans(request).get(asked.namespace.name, id, memory.clock.now())
        with memory.transaction():
            check_unchanged(memory, if_match, entry.change, entry.latest)
            done = _PLAN_KINDS[entry.kind].apply(memory, entry.plan)
        _plans(request).drop(asked.namespace.name, id)
        return PlanApplied(id, entry.kind, memory.operations(1)[0], done)

    return asked.answer(await asked.run("plan apply", "write", work, id, changes=True))


def check_unchanged(memory: Memory, if_match: str, planned: int, latest: int) -> None:
    """Raise StaleError, with the journal entries since `latest`, unless the memory is still at the change counter of
    the plan and of the `If-Match` header.

    "*" skips the check. planned: the plan's change counter.
    """
    wanted = if_match.strip().removeprefix("W/").strip('"')
    now = memory.change_counter
    if wanted == "*" or (wanted == str(now) and planned == now):
        return
    since = [entry for entry in memory.operations(LISTED) if entry.id > latest]
    summaries = "; ".join(f"{entry.id} {entry.kind}: {entry.summary}" for entry in since[:3])
    raise StaleError(
        f"The memory is at change {now}, this plan at {planned}, the request at {wanted[:20] or 'none'}. Since then: "
        f"{summaries or 'nothing in the journal, only what was used and forecast'}.",
        way_out="Plan anew, or send `If-Match: *` to apply it if it still fits.",
        changed=tuple(since),
    )


@plan_router.get("/v1/journal", operation_id="get_journal", summary="What was changed, the newest first.")
async def journal(
    asked: ByCaller,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """Return a page of the journal; the `Link` header leads to the next."""

    def work() -> JournalPage:
        entries = asked.namespace.memory.operations(offset + limit + 1)[offset:]
        return JournalPage(entries[:limit], offset, len(entries) > limit)

    page = await asked.run("operations", "read", work, f"--limit {limit}", changes=False)
    more = {"Link": f'</v1/journal?limit={limit}&offset={offset + limit}>; rel="next"'} if page.more else {}
    return asked.answer(page, 200, more)


@plan_router.post("/v1/journal/{id}/undo", operation_id="post_journal_undo", summary="Take a change back.")
async def undo(asked: ByCaller, id: int) -> Response:
    """Undo the entry. Refused where a later entry depends on it."""
    check_right(asked, "write", "`undo`")
    work: Callable[[], JournalEntry] = lambda: asked.namespace.memory.undo(_number(id))  # noqa: E731
    return asked.answer(await asked.run("undo", "write", work, f"undo {id}", changes=True))


def _number(id: int) -> int:
    """Return the journal id; raises NotFoundError for an impossible id."""
    if not 0 < id < 2**31:
        raise NotFoundError("There is no such change.", way_out="GET /v1/journal lists them.")
    return id


def _latest(memory: Memory) -> int:
    """Return the id of the latest journal entry, 0 for none."""
    return max((entry.id for entry in memory.operations(1)), default=0)


def _plans(request: Request) -> Plans:
    plans: Plans = request.app.state.plans
    return plans
