"""Plans over HTTP: preview a change, apply it if the memory is unchanged since, undo it.

The server stores a plan for an hour, under an id that only its namespace knows. Applying needs the change counter of
the plan (`If-Match`); if the memory has changed, it is refused with the journal entries since.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from amgs.errors import NotFoundError, StaleError
from amgs.memory import Memory
from amgs.types import JournalEntry, JournalPage, PlanApplied, ServedPlan
from amgs_app.lifecycle.care_commands import Concern
from amgs_app.server.asking import ByCaller, check_right
from amgs_app.server.hosting import Lane

Kind = Literal["consolidate", "enhance", "prune", "revision"]
router = APIRouter(tags=["plans"])

KEPT: Final = timedelta(hours=1)
MOST: Final = 64
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
    """A plan with the change counter, the latest journal entry and the time at which it was made."""

    kind: Kind
    plan: Any
    change: int
    latest: int
    at: datetime


@dataclass(frozen=True, slots=True)
class _PlanKind:
    """How a kind of plan is made and applied, and the lane in which it is made."""

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
            for key in old or mine[: max(0, len(mine) - MOST + 1)]:
                del self._kept[key]
            self._kept[namespace, plan_id] = plan
        return plan_id

    def get(self, namespace: str, id: str, now: datetime) -> _StoredPlan:
        """Return the plan with this id; raises NotFoundError if it is unknown or expired."""
        with self._lock:
            entry = self._kept.get((namespace, id))
        if entry is None or entry.at + KEPT < now:
            raise NotFoundError(
                "There is no such plan.", way_out="Plan anew: a plan is kept for an hour, until it is applied."
            )
        return entry

    def drop(self, namespace: str, id: str) -> None:
        """Delete a plan that was applied."""
        with self._lock:
            self._kept.pop((namespace, id), None)


@router.post(
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


@router.get("/v1/plans/{id}", operation_id="get_plan", summary="A plan that waits to be applied.")
async def show(asked: ByCaller, request: Request, id: str) -> Response:
    """Return the plan unchanged."""

    def work() -> ServedPlan:
        entry = _plans(request).get(asked.namespace.name, id, asked.namespace.memory.clock.now())
        return ServedPlan(id, entry.kind, entry.change, entry.at + KEPT, entry.plan)

    served_plan = await asked.run("plan show", "read", work, id, changes=False)
    return asked.answer(served_plan, 200, {"ETag": f'"{served_plan.change_counter}"'})


@router.post("/v1/plans/{id}/apply", operation_id="post_plan_apply", summary="Carry a plan out.")
async def apply(
    asked: ByCaller,
    request: Request,
    id: str,
    if_match: Annotated[
        str, Header(description="The plan's ETag; * to apply it if it still fits, whatever else changed.")
    ],
) -> Response:
    """Apply in one transaction and one journal entry, which `undo` reverts.

    412 where the memory has changed since the plan was made, with the journal entries since.
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
        f"It stands at change {now}, and this was made at {planned}, asked for at {wanted[:20] or 'none'}. Since then: "
        f"{summaries or 'nothing in the journal, only what was used and forecast'}.",
        way_out="Plan anew, or send `If-Match: *` to apply it if it still fits.",
        changed=tuple(since),
    )


@router.get("/v1/journal", operation_id="get_journal", summary="What was changed, the newest first.")
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


@router.post("/v1/journal/{id}/undo", operation_id="post_journal_undo", summary="Take a change back.")
async def undo(asked: ByCaller, id: int) -> Response:
    """Undo the entry. Refused where a later one depends on it."""
    check_right(asked, "write", "`undo`")
    work: Callable[[], JournalEntry] = lambda: asked.namespace.memory.undo(_number(id))  # noqa: E731
    return asked.answer(await asked.run("undo", "write", work, f"undo {id}", changes=True))


def _number(id: int) -> int:
    """Return the journal id; raises NotFoundError for one that no entry can have."""
    if not 0 < id < 2**31:
        raise NotFoundError("There is no such change.", way_out="GET /v1/journal lists them.")
    return id


def _latest(memory: Memory) -> int:
    """Return the id of the latest journal entry, 0 for none."""
    return max((entry.id for entry in memory.operations(1)), default=0)


def _plans(request: Request) -> Plans:
    plans: Plans = request.app.state.plans
    return plans
