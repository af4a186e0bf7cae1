"""Metadata of a lifetime's spans and the acts that changed what is shown of them, and the JSON form of frozen values in
a trace and in the journal.

MegaContext, "Pruning lifetime context" and "Curating the core knowledge corpus". Frozen values, which the journal
stores. The gist over forgotten detail stays, so that the window still tiles the lifetime.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from amgs_focus.records import SpanAbout, Tag
from amgs_focus.tree.node_set import NOTHING, NodeSet


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the parser and serialiser of a type, created on first use."""
    return TypeAdapter(kind)


def plain(value: Any) -> Any:
    """Return a frozen value as plain data: dicts, lists, texts and numbers."""
    kind: Any = type(value)
    return adapter(kind).dump_python(value, mode="json", warnings=False)


def round_floats(value: Any) -> Any:
    """Return plain data with floats rounded to 6 significant digits and tuples as lists."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): round_floats(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [round_floats(item) for item in value]
    return value


def compact(value: Any) -> str:
    """Return plain data as JSON on one line. Raises ValueError for a float that is not finite."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parse_value(kind: Any, raw: bytes) -> Any:
    """Return a value of a type from JSON. Raises ValueError that says where it does not fit.

    Parsing is strict: a number in quotes is no number. A missing field takes its default, as an earlier version may not
    have written it; unknown fields are ignored.
    """
    try:
        return adapter(kind).validate_json(raw, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error


ActKind = Literal["forget", "restore", "purge"]
Fate = Literal[
    "weak", "forgotten", "recent", "tagged", "pinned", "in_window", "worth", "asked", "finer_first", "strong"
]

FATES: Mapping[Fate, str] = {
    "weak": "nobody looked at it for long, and nothing speaks for it",
    "forgotten": "it is forgotten already",
    "recent": "it is among the last tokens",
    "tagged": "there is a tag on it",
    "pinned": "the operator pinned it",
    "in_window": "its detail stands in the window",
    "worth": "its detail was measured to be worth something",
    "asked": "it has the words of a recent question",
    "finer_first": "the detail of what lies below it goes first",
    "strong": "it is not weak yet",
}
"""What a plan does with a gist's detail, and why."""


Nodes = Annotated[
    NodeSet, PlainValidator(NodeSet.join), PlainSerializer(lambda nodes: [list(run) for run in nodes.runs])
]
"""A set of nodes; in JSON a list of runs [level, first, stop]."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Record of a run of nodes whose detail was forgotten.

    checksum: CRC-32 of the tokens, 8 hex digits. parent: id of the gist above the first node, −1 if there is none.
    strength, idle: the smallest strength and the longest time without use in the run. opened: openings in total.
    sources: names of the first sources, at most 8.
    """

    level: int
    first: int
    stop: int
    start: int
    end: int
    checksum: str
    parent: int
    strength: float
    idle: int
    opened: int
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """A forgetting, restoration or purge of spans: who did it, when, why. id: from 1, in order."""

    id: int
    kind: ActKind
    nodes: Nodes
    at: str = ""
    by: str = ""
    why: str = ""
    record: tuple[Descriptor, ...] = ()


@dataclass(frozen=True)
class SpanMetadata:
    """All metadata of a lifetime's spans.

    about: by the start of the span; `about` is changed in place when a span is appended, as there may be many. sealed:
    gists whose detail is not shown. purged: those of them whose detail is gone for good. blanked: every purge was
    completed.
    """

    about: dict[int, SpanAbout] = field(default_factory=dict)
    tags: tuple[Tag, ...] = ()
    acts: tuple[Act, ...] = ()
    sealed: NodeSet = NOTHING
    purged: NodeSet = NOTHING
    blanked: bool = True

    @property
    def next_id(self) -> int:
        return self.acts[-1].id + 1 if self.acts else 1

    def in_force(self, act: Act) -> bool:
        """Return whether any part of a forgetting is still in effect."""
        return act.kind == "forget" and bool((act.nodes & self.sealed).runs)

    def versions(self) -> dict[str, str]:
        """Return the latest version of each path."""
        latest_versions = {}
        for _, description in sorted(self.about.items()):
            if description.path and (description.version or description.path not in latest_versions):
                latest_versions[description.path] = description.version
        return latest_versions

    def apply_act(self, act: Act) -> SpanMetadata:
        """Return the metadata after an act; what is purged stays sealed."""
        after = replace(self, acts=(*self.acts, act))
        if act.kind == "forget":
            return replace(after, sealed=self.sealed | act.nodes)
        if act.kind == "restore":
            return replace(after, sealed=self.sealed - (act.nodes - self.purged))
        gone = act.nodes & self.sealed
        return replace(after, purged=self.purged | gone, blanked=False)

    def cut(self, length: int, block_size: int) -> SpanMetadata:
        """Return the metadata of the first `length` tokens; the acts stay on record."""
        return replace(
            self,
            about={start: description for start, description in self.about.items() if start < length},
            tags=tuple(replace(tag, end=min(tag.end, length)) for tag in self.tags if tag.start < length),
            sealed=self.sealed.within(length, block_size),
            purged=self.purged.within(length, block_size),
        )

    def tags_on(self, start: int, end: int) -> tuple[Tag, ...]:
        """Return the tags on any of tokens [start, end)."""
        return tuple(tag for tag in self.tags if tag.start < end and start < tag.end)
