"""Check types and ranges of all values of an import before the first row is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model, model_validator

from amgs.calibration import forecasting
from amgs.calibration.results import read_curve
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
from amgs.storage.store import Storage
from amgs.storage.tables import DIMENSION, EMBEDDER, TableColumn
from amgs.types import Fault, FrameDefinition, Status, Weights
from amgs.types.calibration import UseSign
from amgs.types.conversation_views import MentionKind, MentionType
from amgs.types.frame import Assembly, BudgetStrategy, Merge
from amgs.types.gateway import PromptKind, prompt_id


class _BlockState(BaseModel):
    """State of a block in the journal."""

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
    """State of an edge in the journal."""

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
    """A reinforcement in the journal."""

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
    """A verdict in the journal; before it, only the clock of a block that it reinforced."""

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


class _FrameState(BaseModel):
    """A frame's definition in the journal."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _defines(self) -> _FrameState:
        _check_definition(decode(self.model_extra or {}))
        return self


_STATES: Mapping[str, type[BaseModel]] = {
    "block": _BlockState,
    "edge": _EdgeState,
    "forecast": _VerdictState,
    "clock": _ClockState,
    "frame": _FrameState,
}


class Row(BaseModel):
    """Any row; unknown columns were refused before."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _JournalRow(Row):
    """A row of the journal, with states of its kind of target."""

    @model_validator(mode="after")
    def _states(self) -> _JournalRow:
        row = self.__dict__
        state = _STATES.get(row["target"])
        for name in ("before", "after"):
            if state is not None and row[name] is not None:
                try:
                    state.model_validate(json.loads(row[name]))
                except (ValueError, TypeError, OverflowError) as error:
                    raise ValueError(f"{name} is no state of a {row['target']}") from error
        if row["target"] == "edge" and row["key"].count(" ") < 2:
            raise ValueError("the key of an edge is source, target and relation")
        return self


class _PromptRow(Row):
    """A prompt, whose id is its hash."""

    @model_validator(mode="after")
    def _hashes(self) -> _PromptRow:
        row = self.__dict__
        if prompt_id(row["content"]) != row["id"]:
            raise ValueError("the content does not hash to the id")
        return self


class _Definition(BaseModel):
    """A frame's definition; types of its fields and of its rule's are checked."""

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
    for definition in data:
        _check_definition(decode(definition))


class _FrameRow(Row):
    """A frame's definition; its children are in another table."""

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
"""Type of the values in a column by its SQL type, by default."""

_KINDS: tuple[tuple[Any, str], ...] = (
    (Share, "actual brier_score budget_allocation chance confidence outcome predicted semantic_threshold weight"),
    (Rate, "decay_lambda entropy_bits refresh_hours"),
    (Count, "attempts blocks cached edges fresh last output places pool prompt_count reinforcements revision"),
    (Count, "span_start structure tokens wanted_at written"),
    (Number, "exchange number serial span_end version"),
    (Id, "block_id pack prompt source_id target_id text"),
    (Ids, "keywords means"),
    (Name, "category content conversation locator model relation_type space state"),
    (Object, "assembly before candidates detail identity kept line parameters record"),
    (Scores, "rescore_weights scoring_weights weights"),
    (Metadata, "meta"),
    (Members, "members"),
    (Calls, "calls"),
    (Span, "antecedent"),
    (Status, "status"),
    (Merge, "merge_strategy"),
    (BudgetStrategy, "budget_strategy"),
    (Assembly, "assembly_strategy"),
    (JournalTarget, "target"),
    (MentionType, "type"),
    (UseSign, "used_by"),
    (Literal["atomic", "composite"], "frame_type"),
    (Literal["system", "user", "assistant", "tool"], "role"),
    (list[Annotated[str, Field(pattern=r"^\S+ \S+ .+$")]], "walked"),
    (Annotated[str, readable(_check_definitions, "list of frame definitions")], "definitions"),
    (Annotated[str, readable(lambda data: read_curve(json.dumps(data)), "curve")], "curve"),
)
NAMED: Mapping[str, Any] = {name: kind for kind, names in _KINDS for name in names.split()}
"""Type of the values in a column by its name, in all tables but those of `OF_TABLE`, including wings' tables, which are
exported and imported whether the wing is installed or not (see `amgs.storage.migrations`).
"""
OF_TABLE: Mapping[str, Mapping[str, Any]] = {
    "memory_blocks": {"id": Id},
    "undone_blocks": {"id": Id, "number": Whole},
    "operations": {"id": Number},
    "operation_rows": {"key": Name, "after": Object},
    "reviews": {"id": Number, "kind": Literal["supersedes", "contradicts", "merges"]},
    "messages": {"blocks": Ids, "content": Text},
    "mentions": {"kind": MentionKind},
    "assemblies": {"budget": Number},
    "centrality": {"score": Share},
    "calibration_log": {"block_id": Text, "category": Text, "serial": Count},
    "exchanges": {"conversation": Text},
    "exchange_prompts": {"after": Count, "kind": PromptKind, "position": Count},
    "prompts": {"id": Id, "content": Text},
    "tasks": {"kind": Name},
    "packs": {"id": Id, "name": Name},
    "pack_uses": {"blocks": Ids, "name": Name},
}


_MOST_COMPLAINTS = 3
_LONGEST_VALUE = 40


Tables = Mapping[str, tuple[tuple[TableColumn, ...], Sequence[Sequence[Any]]]]
"""Columns and rows by table, as in a file."""


def complaints(tables: Tables, schema: Mapping[str, tuple[TableColumn, ...]]) -> list[str]:
    """Return the first faults of the rows, each on a short line; empty if they may be written."""
    every = (
        f"{table}, row {number}: {why}"
        for table, (columns, rows) in tables.items()
        for number, why in _find_refused_rows(_model(table, schema[table]), columns, rows)
    )
    return list(islice(every, _MOST_COMPLAINTS)) or _together(tables)


def faults(storage: Storage) -> list[Fault]:
    """Return what an import would refuse of a store's rows, the first few per table.

    Embeddings are checked by `amgs.lifecycle.upkeep`, without an object for each value.
    """
    row_faults: list[Fault] = []
    for table, columns in storage.tables.schema().items():
        plain_columns = tuple(column for column in columns if (table, column.name) != ("memory_blocks", "embedding"))
        rows = (
            [value.tolist() if isinstance(value, np.ndarray) else value for value in row]
            for batch in storage.tables.rows(table, plain_columns)
            for row in batch
        )
        refused = islice(_find_refused_rows(_model(table, plain_columns), plain_columns, rows), _MOST_COMPLAINTS)
        row_faults += [Fault(f"{table}, row {number}", why) for number, why in refused]
    meta = storage.tables.rows("meta", storage.tables.schema()["meta"])
    own = {str(key): str(value) for batch in meta for key, value in batch}
    return row_faults + [Fault("meta", why) for why in _of_meta(own)]


def _find_refused_rows(
    model: type[Row], columns: Sequence[TableColumn], rows: Iterable[Sequence[Any]]
) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the fault of each row that may not be written."""
    names, adapter = [column.name for column in columns], TypeAdapter(model)
    for number, row in enumerate(rows, 1):
        try:
            adapter.validate_python(dict(zip(names, row, strict=True)))
        except ValidationError as error:
            yield number, _describe_first_error(error)


def _describe_first_error(error: ValidationError) -> str:
    """Return the first fault of a row."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"] if isinstance(part, str))[:_LONGEST_VALUE]
    reason = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if first["type"] in ("missing", "value_error"):
        return f"{place}: {reason}".removeprefix(": ")
    value = repr(first["input"])
    shown = value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
    return f"{place} is {shown}: {reason}"


def _together(tables: Tables) -> list[str]:
    """Return inconsistencies between well-formed rows."""
    columns, rows = tables["memory_blocks"]
    names = [column.name for column in columns]
    ids = [row[names.index("id")] for row in rows]
    if len(set(ids)) < len(ids):
        twice = len(ids) - len(set(ids))
        return [f"memory_blocks: {twice} {'id occurs' if twice == 1 else 'ids occur'} more than once"]
    vectors = [row[names.index("embedding")] for row in rows] if "embedding" in names else []
    sizes = {len(vector) for vector in vectors if vector is not None}
    meta = {str(key): str(value) for key, value in tables["meta"][1]} if "meta" in tables else {}
    if wrong := _of_meta(meta):
        return [f"meta: {wrong[0]}"]
    if sizes and (not meta.get(EMBEDDER) or sizes != {int(meta.get(DIMENSION, 0))}):
        return [f"memory_blocks: embeddings of {sorted(sizes)[:3]} values, where meta names another length or none"]
    return []


def _of_meta(meta: Mapping[str, str]) -> list[str]:
    """Return the faults of a store's data about itself, by key."""
    return [
        f"{key} is {meta[key][:_LONGEST_VALUE]!r}, not a count"
        for key in (DIMENSION, "highest_number")
        if key in meta and not (meta[key].isdecimal() and int(meta[key]) <= LARGEST)
    ] + [
        f"{key} is {value[:_LONGEST_VALUE]!r}, not what questions need"
        for key, value in meta.items()
        if key.startswith(NEEDS) and not forecasting.is_readable(value)
    ]


def _model(table: str, columns: Sequence[TableColumn]) -> type[Row]:
    """Return the type of the table's rows, each column by its name, else by its SQL type."""
    fields: dict[str, Any] = {}
    for column in columns:
        kind = OF_TABLE.get(table, {}).get(column.name) or NAMED.get(column.name, TYPES[column.type])
        fields[column.name] = (kind, ...) if column.required else (kind | None, None)
    return create_model(f"row of {table}", __base__=BASES.get(table, Row), **fields)
