"""A pack as a document that another memory takes in: its members with their texts, dates and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amgs.errors import InputError
from amgs.types import Block
from amgs.wings.packs.values import Pack

FORMAT: Literal["amgs-pack"] = "amgs-pack"
VERSION: Literal[1] = 1


class PackDocumentMember(BaseModel):
    """A member with its text."""

    model_config = ConfigDict(extra="forbid", strict=True)

    content: str = Field(min_length=1)
    role: Literal["source", "learning"] = "source"
    created_at: str
    meta: dict[str, Any] = {}


class PackDocument(BaseModel):
    """See the module."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["amgs-pack"] = FORMAT
    format_version: Literal[1] = VERSION
    name: str
    title: str = ""
    keywords: list[str] = []
    query: str = ""
    frame: str = ""
    members: list[PackDocumentMember] = Field(min_length=1)


def written(pack: Pack, held: Mapping[str, Block]) -> dict[str, Any]:
    """The document of a pack, as JSON knows it. Raises InputError where a member is not held any more."""
    gone = [one.block for one in pack.members if one.block not in held]
    if gone:
        raise InputError(
            f"{pack.name}@{pack.version} has {len(gone)} members that the memory no longer holds, {gone[0][:8]} first.",
            way_out="Keep a new version without them, and export that.",
        )
    members = [
        PackDocumentMember(
            content=held[one.block].content,
            role=one.role,
            created_at=held[one.block].created_at.isoformat(),
            meta=dict(held[one.block].meta),
        )
        for one in pack.members
    ]
    document = PackDocument(
        name=pack.name,
        title=pack.title,
        keywords=list(pack.keywords),
        query=pack.query,
        frame=pack.frame,
        members=members,
    )
    return document.model_dump(mode="json")


def read(data: object) -> PackDocument:
    """The document in what a file of JSON says; raises InputError naming what is wrong."""
    try:
        document = PackDocument.model_validate(data)
        for one in document.members:
            datetime.fromisoformat(one.created_at)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise InputError(
            f"This is no pack: {place}: {first['msg'][:100]}.", way_out="Give a file to which a pack was exported."
        ) from error
    except ValueError as error:
        raise InputError(
            f"This is no pack: {one.created_at[:40]!r} is no instant.",
            way_out="Give a file to which a pack was exported.",
        ) from error
    return document
