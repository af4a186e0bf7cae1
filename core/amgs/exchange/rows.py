"""The rows of an import, each value held against its type and its range before the first row is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model, model_validator

from amgs.calibration import coverage
from amgs.calibration.recalibrate import read_curve
from amgs.clock import parse_instant
from amgs.errors import StoreCorruptError, UsageError
from amgs.exchange.value_kinds import (
    LARGEST,
    Calls,
    Count,
    Embedding,
    Finite,
    Id,
    Ids,
    Instant,
    Json,
    Members,
    Metadata,
    Name,
    Number,
    Object,
    Rate,
    Scores,
    Share,
    Span,
    Text,
    Whole,
    read_metadata,
    readable,
)
from amgs.frames.registry import check
from amgs.storage.forecasts import NEEDS
from amgs.storage.frames import decode, definition_of
from amgs.storage.journal import JournalTarget
from amgs.storage.meta import DIMENSION, EMBEDDER
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn
from amgs.types import Fault, FrameDefinition, Status, Weights
from amgs.types.calibration import UseSign
from amgs.types.frame import Assembly, BudgetStrategy, Merge
from amgs.types.gateway import PromptKind, prompt_id
from amgs.types.mentions import MentionKind, MentionType


class _BlockState(BaseModel):
    """A block as the journal keeps it."""

    model_config = ConfigDict(extra="allow", strict=True)

    category: Name
    confidence: Share
    decay_lambda: Rate
    status: Status
    is_self_component: bool
    meta: dict[str, Any]
    embedding_kept: bool = True
    content: Text | None = None
    created_at: str | None = None
    last_reinforced_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> _BlockState:
        read_metadata(self.meta)
        _check_instants(self.created_at, self.last_reinforced_at, self.valid_from, self.valid_to)
        return self


class _EdgeState(BaseModel):
    """An edge as the journal keeps it."""

    model_config = ConfigDict(extra="allow", strict=True)

    weight: Share
    confidence: Share
    decay_lambda: Rate
    created_at: str
    last_reinforced_at: str
    key: Annotated[list[Name], Field(min_length=3, max_length=3)]

    @model_validator(mode="after")
    def _fits(self) -> _EdgeState:
        _check_instants(self.created_at, self.last_reinforced_at)
        return self


def _check_instants(*texts: str | None) -> None:
    for text in texts:
        if text is not None:
            parse_instant(text)


class _ClockState(BaseModel):
    """A reinforcement as the journal keeps it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    last_reinforced_at: str | None = None
    at: str | None = None
    event_type: Text = ""
    source: Text = ""

    @model_validator(mode="after")
    def _fits(self) -> _ClockState:
        _check_instants(self.last_reinforced_at, self.at)
        return self


class _VerdictState(BaseModel):
    """A verdict as the journal keeps it; of a forecast that is open there is nothing to keep but the clock of a block
    that the verdict reinforced.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    block: Id = "0" * 64
    predicted: Share = 0.0
    actual: Share = 0.0
    brier: Share = 0.0
    decided_at: str = "1970-01-01"
    last_reinforced_at: str | None = None
    reinforced: _ClockState | None = None

    @model_validator(mode="after")
    def _fits(self) -> _VerdictState:
        _check_instants(self.decided_at, self.last_reinforced_at)
        return self


_STATES: Mapping[str, type[BaseModel]] = {
    "block": _BlockState,
    "edge": _EdgeState,
    "forecast": _VerdictState,
    "clock": _ClockState,
}


class Row(BaseModel):
    """Any row: a column that the schema does not have was refused before."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _JournalRow(Row):
    """A row of the journal, whose states are those of what it names."""

    @model_validator(mode="after")
    def _states(self) -> _JournalRow:
        given = self.__dict__
        state = _STATES.get(given["target"])
        for name in ("before", "after"):
            if state is not None and given[name] is not None:
                try:
                    state.model_validate(json.loads(given[name]))
                except (ValueError, TypeError, OverflowError) as error:
                    raise ValueError(f"{name} is no state of a {given['target']}") from error
        if given["target"] == "edge" and given["key"].count(" ") < 2:
            raise ValueError("the key of an edge is source, target and relation")
        return self


class _PromptRow(Row):
    """A prompt, whose id is its hash."""

    @model_validator(mode="after")
    def _hashes(self) -> _PromptRow:
        given = self.__dict__
        if prompt_id(given["content"]) != given["id"]:
            raise ValueError("the content does not hash to the id")
        return self


class _Definition(BaseModel):
    """A frame's definition whose fields, and those of its rule, are what their types say."""

    model_config = ConfigDict(revalidate_instances="always", strict=True)

    definition: FrameDefinition


_Definition.model_rebuild(_types_namespace={"Mapping": Mapping, "Status": Status, "Weights": Weights})


def _check_definition(definition: FrameDefinition) -> None:
    """Raise ValueError for a definition that `frame define` would refuse."""
    _Definition(definition=definition)
    try:
        check(definition)
    except UsageError as error:
        raise ValueError(error.message.rstrip(".")) from error


def _check_definitions(data: Any) -> None:
    for one in data:
        _check_definition(decode(one))


class _FrameRow(Row):
    """A frame's definition; its children stand in another table."""

    @model_validator(mode="after")
    def _defines(self) -> _FrameRow:
        row = list(self.__dict__.values())
        del row[1]  # whether it is a composite
        try:
            _check_definition(definition_of(row, ()))
        except StoreCorruptError as error:
            raise ValueError("it is no definition of a frame") from error
        return self


BASES: Mapping[str, type[Row]] = {"operation_rows": _JournalRow, "prompts": _PromptRow, "frame_definitions": _FrameRow}

TYPES: Mapping[str, Any] = {
    "VARCHAR": Text,
    "VARCHAR[]": list[Text],
    "BIGINT": Whole,
    "INTEGER": Annotated[int, Field(ge=0, le=2**31 - 1)],
    "DOUBLE": Finite,
    "BOOLEAN": bool,
    "TIMESTAMP": Instant,
    "JSON": Json,
    "FLOAT[]": Embedding,
}
"""What a column of this type may hold, where nothing more is known of it."""

KNOWN: Mapping[tuple[str, str], Any] = {
    ("memory_blocks", "id"): Id,
    ("memory_blocks", "content"): Name,
    ("memory_blocks", "category"): Name,
    ("memory_blocks", "confidence"): Share,
    ("memory_blocks", "decay_lambda"): Rate,
    ("memory_blocks", "status"): Status,
    ("memory_blocks", "meta"): Metadata,
    ("memory_blocks", "reinforcements"): Count,
    ("memory_blocks", "number"): Number,
    ("memory_blocks", "revision"): Count,
    ("edges", "source_id"): Id,
    ("edges", "target_id"): Id,
    ("edges", "relation_type"): Name,
    ("edges", "weight"): Share,
    ("edges", "confidence"): Share,
    ("edges", "decay_lambda"): Rate,
    ("frame_definitions", "frame_type"): Literal["atomic", "composite"],
    ("frame_definitions", "assembly_strategy"): Assembly,
    ("frame_definitions", "merge_strategy"): Merge,
    ("frame_definitions", "budget_strategy"): BudgetStrategy,
    ("frame_definitions", "refresh_hours"): Rate,
    ("frame_definitions", "semantic_threshold"): Share,
    ("frame_definitions", "scoring_weights"): Scores,
    ("frame_definitions", "rescore_weights"): Scores,
    ("frame_compositions", "merge_strategy"): Merge,
    ("frame_compositions", "budget_allocation"): Share,
    ("calibration_log", "predicted"): Share,
    ("calibration_log", "actual"): Share,
    ("calibration_log", "brier_score"): Share,
    ("calibration_log", "serial"): Count,
    ("operations", "id"): Number,
    ("operations", "blocks"): Count,
    ("operations", "edges"): Count,
    ("operation_rows", "target"): JournalTarget,
    ("operation_rows", "key"): Name,
    ("operation_rows", "before"): Object,
    ("operation_rows", "after"): Object,
    ("undone_blocks", "id"): Id,
    ("undone_blocks", "content"): Name,
    ("undone_blocks", "category"): Name,
    ("undone_blocks", "confidence"): Share,
    ("undone_blocks", "decay_lambda"): Rate,
    ("undone_blocks", "status"): Status,
    ("undone_blocks", "meta"): Metadata,
    ("undone_edges", "source_id"): Id,
    ("undone_edges", "target_id"): Id,
    ("undone_edges", "relation_type"): Name,
    ("undone_edges", "weight"): Share,
    ("undone_edges", "confidence"): Share,
    ("undone_edges", "decay_lambda"): Rate,
    ("source_blocks", "source"): Text,
    ("source_blocks", "locator"): Name,
    ("source_blocks", "block_id"): Id,
    ("sources", "name"): Text,
    ("messages", "conversation"): Name,
    ("messages", "number"): Number,
    ("messages", "role"): Literal["system", "user", "assistant", "tool"],
    ("messages", "calls"): Calls,
    ("messages", "blocks"): Ids,
    ("mentions", "conversation"): Name,
    ("mentions", "number"): Number,
    ("mentions", "span_start"): Count,
    ("mentions", "span_end"): Number,
    ("mentions", "kind"): MentionKind,
    ("mentions", "type"): MentionType,
    ("mentions", "means"): Ids,
    ("mentions", "antecedent"): Span,
    ("mentions", "confidence"): Share,
    ("reviews", "id"): Number,
    ("reviews", "kind"): Literal["supersedes", "contradicts", "merges"],
    ("reviews", "confidence"): Share,
    ("assemblies", "serial"): Number,
    ("assemblies", "budget"): Number,
    ("assemblies", "tokens"): Count,
    ("assemblies", "entropy_bits"): Rate,
    ("assemblies", "weights"): Scores,
    ("assemblies", "walked"): list[Annotated[str, Field(pattern=r"^\S+ \S+ .+$")]],
    ("assemblies", "kept"): Object,
    ("frame_versions", "definitions"): Annotated[str, readable(_check_definitions, "list of frame definitions")],
    ("frame_cache", "assembly"): Object,
    ("frame_cache", "identity"): Object,
    ("waterfalls", "serial"): Number,
    ("waterfalls", "candidates"): Object,
    ("standing_messages", "conversation"): Name,
    ("standing_messages", "number"): Number,
    ("exchanges", "number"): Number,
    ("exchanges", "last"): Count,
    ("exchanges", "record"): Object,
    ("exchanges", "prompt_count"): Count,
    ("exchanges", "fresh"): Count,
    ("exchanges", "written"): Count,
    ("exchanges", "cached"): Count,
    ("exchanges", "output"): Count,
    ("exchange_prompts", "exchange"): Number,
    ("exchange_prompts", "position"): Count,
    ("exchange_prompts", "kind"): PromptKind,
    ("exchange_prompts", "after"): Count,
    ("exchange_prompts", "prompt"): Id,
    ("prompts", "id"): Id,
    # of a wing; exported and read back whether it is there or not, as `amgs.storage.migrations` says
    ("packs", "name"): Name,
    ("packs", "version"): Number,
    ("packs", "id"): Id,
    ("packs", "members"): Members,
    ("packs", "keywords"): Ids,
    ("packs", "tokens"): Count,
    ("pack_uses", "number"): Number,
    ("pack_uses", "name"): Name,
    ("pack_uses", "version"): Number,
    ("pack_uses", "pack"): Id,
    ("pack_uses", "tokens"): Count,
    ("pack_uses", "blocks"): Ids,
    ("pack_uses", "outcome"): Share | None,
    ("pack_credits", "number"): Number,
    ("pack_credits", "model"): Name,
    ("searches", "serial"): Number,
    ("searches", "places"): Count,
    ("searches", "pool"): Count,
    ("searches", "candidates"): Object,
    ("forecast_curves", "curve"): Annotated[str, readable(lambda data: read_curve(json.dumps(data)), "curve")],
    ("monitor_log", "detail"): Object,
    ("block_uses", "number"): Number,
    ("block_uses", "block_id"): Id,
    ("block_uses", "used_by"): UseSign,
    ("block_uses", "chance"): Share,
    ("tasks", "number"): Number,
    ("tasks", "kind"): Name,
    ("tasks", "parameters"): Object,
    ("tasks", "wanted_at"): Count,
    ("tasks", "state"): Name,
    ("tasks", "attempts"): Count,
    ("centrality", "block_id"): Id,
    ("centrality", "score"): Share,
    ("centrality_of", "structure"): Count,
    ("centrality_of", "blocks"): Count,
    ("centrality_of", "edges"): Count,
    ("prepared_vectors", "block_id"): Id,
    ("prepared_vectors", "text"): Id,
    ("prepared_vectors", "space"): Name,
    ("deleted_blocks", "block_id"): Id,
    ("deleted_blocks", "line"): Object,
}


_MOST_COMPLAINTS = 3
_LONGEST_VALUE = 40


Tables = Mapping[str, tuple[tuple[TableColumn, ...], Sequence[Sequence[Any]]]]
"""Columns and rows by table, as a file gives them."""


def complaints(tables: Tables, schema: Mapping[str, tuple[TableColumn, ...]]) -> list[str]:
    """What is wrong with the rows, the first few of it, each in one short line; empty when they may be written."""
    every = (
        f"{table}, row {number}: {why}"
        for table, (columns, rows) in tables.items()
        for number, why in _refused(_model(table, schema[table]), columns, rows)
    )
    return list(islice(every, _MOST_COMPLAINTS)) or _together(tables)


def faults(storage: Storage) -> list[Fault]:
    """What an import would refuse of the rows of a store, the first few of each table.

    `amgs.lifecycle.verify` looks at the embeddings of blocks, of which a value each would be an object here.
    """
    found: list[Fault] = []
    for table, columns in storage.tables.schema().items():
        kept = tuple(column for column in columns if (table, column.name) != ("memory_blocks", "embedding"))
        rows = (
            [value.tolist() if isinstance(value, np.ndarray) else value for value in row]
            for batch in storage.tables.rows(table, kept)
            for row in batch
        )
        refused = islice(_refused(_model(table, kept), kept, rows), _MOST_COMPLAINTS)
        found += [Fault(f"{table}, row {number}", why) for number, why in refused]
    meta = storage.tables.rows("meta", storage.tables.schema()["meta"])
    own = {str(key): str(value) for batch in meta for key, value in batch}
    return found + [Fault("meta", why) for why in _of_meta(own)]


def _refused(
    model: type[Row], columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]]
) -> Iterator[tuple[int, str]]:
    """The rows that may not be written, each by its number from 1, and why."""
    names, adapter = [column.name for column in columns], TypeAdapter(model)
    for number, row in enumerate(rows, 1):
        try:
            adapter.validate_python(dict(zip(names, row, strict=True)))
        except ValidationError as error:
            yield number, _told(error)


def _told(error: ValidationError) -> str:
    """The first thing that is wrong with a row."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"] if isinstance(part, str))[:_LONGEST_VALUE]
    reason = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if first["type"] in ("missing", "value_error"):
        return f"{place}: {reason}".removeprefix(": ")
    given = repr(first["input"])
    shown = given if len(given) <= _LONGEST_VALUE else f"{given[: _LONGEST_VALUE - 1]}…"
    return f"{place} is {shown}: {reason}"


def _together(tables: Tables) -> list[str]:
    """What is wrong between rows that are each well formed."""
    columns, given = tables["memory_blocks"]
    names = [column.name for column in columns]
    ids = [row[names.index("id")] for row in given]
    if len(set(ids)) < len(ids):
        twice = len(ids) - len(set(ids))
        return [f"memory_blocks: {twice} {'id occurs' if twice == 1 else 'ids occur'} more than once"]
    vectors = [row[names.index("embedding")] for row in given] if "embedding" in names else []
    sizes = {len(vector) for vector in vectors if vector is not None}
    kept = {str(key): str(value) for key, value in tables["meta"][1]} if "meta" in tables else {}
    if wrong := _of_meta(kept):
        return [f"meta: {wrong[0]}"]
    if sizes and (not kept.get(EMBEDDER) or sizes != {int(kept.get(DIMENSION, 0))}):
        return [f"memory_blocks: embeddings of {sorted(sizes)[:3]} values, where meta names another length or none"]
    return []


def _of_meta(kept: Mapping[str, str]) -> list[str]:
    """What is wrong with what a store keeps about itself, by key."""
    return [
        f"{key} is {kept[key][:_LONGEST_VALUE]!r}, not a count"
        for key in (DIMENSION, "highest_number")
        if key in kept and not (kept[key].isdecimal() and int(kept[key]) <= LARGEST)
    ] + [
        f"{key} is {value[:_LONGEST_VALUE]!r}, not what questions need"
        for key, value in kept.items()
        if key.startswith(NEEDS) and not coverage.readable(value)
    ]


def _model(table: str, columns: Sequence[TableColumn]) -> type[Row]:
    """What a row of the table must be: each column by what is known of it, else by its type."""
    fields: dict[str, Any] = {}
    for column in columns:
        kind = KNOWN.get((table, column.name), TYPES[column.type])
        fields[column.name] = (kind, ...) if column.required else (kind | None, None)
    return create_model(f"row of {table}", __base__=BASES.get(table, Row), **fields)
