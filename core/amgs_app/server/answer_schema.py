"""JSON schemas of answers for the OpenAPI document, derived from the result types.

They must match what `render.encode.plain` writes, field by field (tests compare them). Type hints are resolved here
too, including names that a module imports only for the type checker.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from amgs import wire
from amgs.lifecycle.erase import ErasureReceipt
from amgs.problems import MEDIA_TYPE as PROBLEM
from amgs.types import (
    Block,
    Candidate,
    IngestReceipt,
    JournalEntry,
    JournalPage,
    PlanApplied,
    ScoreParts,
    ServedPlan,
    Weights,
)
from amgs_app.calls.operation import Operation


@lru_cache(maxsize=1024)
def hints_of(kind: type[Any]) -> dict[str, Any]:
    """Return the types of a class's fields by name."""
    return get_type_hints(kind, localns=_collect_checked_names(kind.__module__))


def read_return_type(function: Callable[..., Any]) -> Any:
    """Return the declared return type of a function."""
    annotation = inspect.get_annotations(function)["return"]
    module = function.__module__
    return (
        eval(annotation, vars(sys.modules[module]), _collect_checked_names(module))
        if isinstance(annotation, str)
        else annotation
    )


class _CheckedNames(dict[str, Any]):
    """Names that a module imports under `if TYPE_CHECKING`; each is imported on first use."""

    def __init__(self, sources: dict[str, tuple[str, str]]) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, name: str) -> Any:
        module, original = self._sources[name]
        self[name] = value = getattr(importlib.import_module(module), original)
        return value


@lru_cache(maxsize=256)
def _collect_checked_names(module: str) -> _CheckedNames:
    """Read from a module's source which names it imports under `if TYPE_CHECKING`, and from where."""
    sources: dict[str, tuple[str, str]] = {}
    for block in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for node in block.body:
                if isinstance(node, ast.ImportFrom) and node.module:
                    sources |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return _CheckedNames(sources)


Schema = dict[str, Any]

ID: Final[Schema] = {"type": "string", "format": "block-id", "pattern": "^[0-9a-f]{64}$"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
NUMBER: Final[Schema] = {"type": ["number", "null"]}
"""Null stands for infinity and NaN."""
SHARE: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_PROBLEM: Final[Schema] = {
    "type": "object",
    "title": "Problem",
    "description": "An error (RFC 9457): what happened, and a way out.",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "way_out": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "way_out"],
}
_BLOCK_IDS: Final = frozenset({"block_id", "source_id", "target_id"})


class AnswerSchemas:
    """Builds schemas of types; each dataclass gets an entry under `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {"Problem": _PROBLEM}
        self._names: dict[type, str] = {}

    def of(self, kind: Any) -> Schema:
        """Return the schema of a type's plain JSON form; {} for any value. Raises TypeError for a type without a JSON
        form.
        """
        if kind in (Any, object):
            return {}
        schema = _PLAIN.get(kind)
        if schema is not None:
            return dict(schema)
        if get_origin(kind) is not None:
            return self._generic(kind)
        if inspect.isclass(kind):
            return self._class(kind)
        raise TypeError(f"{kind} has no form in JSON.")

    def _class(self, kind: type) -> Schema:
        """Return the schema of a class: enum, path, dataclass, named tuple, plain value or mapping."""
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if issubclass(kind, PurePath):
            return {"type": "string"}
        if is_dataclass(kind):
            return {"$ref": f"#/components/schemas/{self._name_schema(kind)}"}
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._row(hints_of(kind).values())
        if issubclass(kind, (str, bool, int, float)):
            return self.of(next(base for base in kind.__mro__ if base in _PLAIN))
        if issubclass(kind, Mapping):
            return {"type": "object"}
        raise TypeError(f"{kind} has no form in JSON.")

    def _generic(self, kind: Any) -> Schema:
        """Return the schema of a type with parameters, such as `list[str]` or `str | None`."""
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.of(inner[0])
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (Union, UnionType):
            return self._one_of(inner)
        if origin is tuple:
            if len(inner) == 2 and inner[1] is Ellipsis:
                return {"type": "array", "items": self.of(inner[0])}
            return self._row(inner)
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if issubclass(origin, Collection):
            return {"type": "array", "items": self.of(inner[0])}
        return self.of(origin)

    def _one_of(self, kinds: Iterable[Any]) -> Schema:
        """Return the schema of a union; arrays are left out, since plain JSON has none."""
        alternatives = [self.of(kind) for kind in kinds if not _is_array(kind)]
        return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}

    def _row(self, kinds: Iterable[Any]) -> Schema:
        """Return the schema of an array with a fixed type at each index."""
        schemas = [self.of(kind) for kind in kinds]
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    def _name_schema(self, kind: type) -> str:
        """Return a dataclass's name under `components`; a second class with the same name gets its module before it."""
        if kind not in self._names:
            taken = kind.__name__ in self.components
            name = f"{kind.__module__.replace('.', '_')}_{kind.__name__}" if taken else kind.__name__
            self._names[kind] = name
            self.components[name] = {}  # placeholder, since a type may contain itself
            self.components[name] = self._dataclass(kind)
        return self._names[kind]

    def _dataclass(self, kind: type) -> Schema:
        """Return the schema of a dataclass, with the fields that `plain` adds or may leave out."""
        hints = hints_of(kind)
        properties = {
            field.name: _find_known_schema(kind, field.name, hints[field.name]) or self.of(hints[field.name])
            for field in fields(kind)
            if not _is_array(hints[field.name])
        }
        left_out = {name for name in properties if any(map(_is_array, get_args(hints[name])))}
        if kind is Block:
            properties["title"] = {"type": "string"}
        if kind is Candidate:
            properties |= {"source": self.of(str), "date": INSTANT, **_PASSAGE}
        left_out.update(_SOMETIMES.get(kind, ()))
        required = [name for name in properties if name not in left_out]
        return {
            "type": "object",
            "title": kind.__name__,
            "description": inspect.getdoc(kind) or kind.__name__,
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }


def describe_answers(document: Schema, operations: Mapping[str, Operation[..., Any]]) -> None:
    """Add to an OpenAPI document what each request answers. operations: by operation id."""
    answer_schemas = AnswerSchemas()
    for methods in document["paths"].values():
        for operation in methods.values():
            id, responses = operation["operationId"], operation["responses"]
            responses.pop("422", None)  # as FastAPI would answer
            responses["4XX"] = {
                "description": "A problem (RFC 9457).",
                "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
            try:
                answer = read_return_type(operations[id].function) if id in operations else _OTHERS.get(id)
                schema = {} if answer is None else answer_schemas.of(answer)
            except ImportError:  # a result of the focus engine's, on a machine without torch
                schema = {}
            if not schema:
                continue
            for code, response in responses.items():
                if code.startswith("2"):
                    response["content"] = {"application/json": {"schema": schema}, wire.MEDIA_TYPE: {"schema": {}}}
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(answer_schemas.components)
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which nothing answers
        schemas.pop(name, None)


_OTHERS: Final[Mapping[str, Any]] = {
    "post_memory_ingest": IngestReceipt,
    "delete_memory": Block | ErasureReceipt,
    "post_plans": ServedPlan,
    "get_plan": ServedPlan,
    "post_plan_apply": PlanApplied,
    "get_journal": JournalPage,
    "post_journal_undo": JournalEntry,
}
"""Answer types of the requests that have their own handler."""


def _find_known_schema(kind: type, name: str, declared: Any) -> Schema | None:
    """Return the narrower schema of a block id, weight or score; None for other fields."""
    if name in _BLOCK_IDS or (kind is Block and name == "id"):
        return {"anyOf": [ID, {"type": "null"}]} if NoneType in get_args(declared) else ID
    if kind in (Weights, ScoreParts) or (kind is Block and name == "confidence"):
        return SHARE
    return None


def _is_array(kind: Any) -> bool:
    """Return whether the type is a NumPy array, which plain JSON leaves out."""
    return kind is np.ndarray or get_origin(kind) is np.ndarray


_PLAIN: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: NUMBER,
    NoneType: {"type": "null"},
    datetime: INSTANT,
}
_PASSAGE: Final[dict[str, Schema]] = {
    "passage": {"type": ["string", "null"], "description": "The text of the passage that answers."},
    "offsets": {"type": "array", "items": {"type": "integer"}, "description": "Its beginning and end in the content."},
    "matches": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        "description": "Where words of the query stand in the content: begin and end of each.",
    },
}
_SOMETIMES: Final[Mapping[type, Collection[str]]] = {Candidate: ("offsets", "matches")}
"""Fields that are optional in an answer."""
