"""`POST /v1/memory/ingest` and `DELETE /v1/memory/{id}`, whose forms differ from their operations' parameters.

Ingest answers 201 only after the journal is on disk.
"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from amgs.errors import InputError
from amgs.types import IngestReceipt
from amgs_app.lifecycle.commands import collect_metadata
from amgs_app.server.asking import Asked, ByCaller, check_right
from amgs_app.server.hosting import Lane

router = APIRouter(tags=["memory"])

LONGEST: Final = 1_000_000
"""Characters of one text."""
MOST: Final = 1000
"""Texts of one request."""
SEARCHABLE: Final = "by words now, by meaning after consolidation"
SKEW: Final = timedelta(minutes=5)
"""How far a client's clock may be ahead of the server's."""


Text = Annotated[str, Field(min_length=1, max_length=LONGEST, description="Markdown or plain text.")]


class IngestItem(BaseModel):
    """A text, and what is known of it."""

    model_config = ConfigDict(extra="forbid")

    content: Text
    occurred_at: AwareDatetime | None = Field(
        default=None, description="When it happened or was written; now unless given. Not in the future."
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
    """Ingest the texts in one transaction and return the receipt. Raises InputError for a time in the future."""
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
