"""The table of routes (which operation answers which request), and pydantic models of requests, built from the
operations' parameters.

Every operation has the route `POST /v1/operations/NAME`; requests that AMGS §11.2 names are the same under
other paths. What uses files or one person's view has no route for other clients.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from amgs_app.calls.operation import Operation, Right, model_of
from amgs_app.calls.registry import Registry

if TYPE_CHECKING:
    from amgs.types import Frame, SearchResult


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Route:
    """A request and the operation that answers it.

    path: with parameter names in braces. renamed: pairs of a path name and the parameter it sets. tag: group in the
    documentation. identifier: the operation id.
    """

    method: Method
    path: str
    operation: Operation[..., Any]
    tag: str
    right: Right
    renamed: tuple[tuple[str, str], ...] = ()
    identifier: str = ""

    @property
    def asks_in_query(self) -> bool:
        """Return whether the parameters are in the query instead of a body."""
        return self.method in ("GET", "DELETE")

    @property
    def in_path(self) -> tuple[str, ...]:
        """Names of the parameters in the path."""
        renamed = dict(self.renamed)
        named = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return tuple(renamed.get(name, name) for name in named)


NAMED: Final[tuple[tuple[Method, str, str, tuple[tuple[str, str], ...]], ...]] = (
    ("GET", "/v1/memory/{id}", "block show", (("id", "block"),)),
    ("PATCH", "/v1/memory/{id}", "block set", (("id", "block"),)),
    ("POST", "/v1/memory/reinforce", "block reinforce", ()),
    ("POST", "/v1/memory/search", "search", ()),
    ("POST", "/v1/frame/assemble", "frame assemble", ()),
    ("GET", "/v1/frame/definitions", "frame list", ()),
    ("POST", "/v1/frame/define", "frame define", ()),
    ("PUT", "/v1/frame/define/{name}", "frame define", ()),
    ("POST", "/v1/frame/compose", "frame define", ()),
    ("GET", "/v1/frame/{name}/cached", "frame cached", ()),
    ("POST", "/v1/graph/edge", "edge set", ()),
    ("DELETE", "/v1/graph/edge", "edge remove", ()),
    ("GET", "/v1/graph/neighbours/{id}", "graph neighbours", (("id", "block"),)),
    ("GET", "/v1/graph/centrality/{id}", "graph inspect", (("id", "block"),)),
    ("GET", "/v1/graph/stats", "graph stats", ()),
    ("POST", "/v1/lifecycle/consolidate", "consolidate", ()),
    ("POST", "/v1/lifecycle/enhance", "enhance", ()),
    ("POST", "/v1/lifecycle/prune", "prune", ()),
    ("POST", "/v1/lifecycle/calibrate", "calibrate", ()),
    ("GET", "/v1/lifecycle/status", "status", ()),
)
"""Requests that §11.2 names: method, path, operation, renamed path parameters. Ingest and deletion have their own
handlers.
"""


def has_route(operation: Operation[..., Any]) -> bool:
    """Return whether the operation has a route: everyone may call it, and it needs no file of the machine."""
    return operation.for_everyone and not any(
        parameter.takes in ("file", "folder") and parameter.required for parameter in operation.parameters
    )


def file_parameters(operation: Operation[..., Any]) -> frozenset[str]:
    """Return the parameters that name files or folders of the server's machine, which clients may not give."""
    return frozenset(parameter.name for parameter in operation.parameters if parameter.takes in ("file", "folder"))


def routes(registry: Registry) -> tuple[Route, ...]:
    """Return all routes of operations, those of the specification first."""
    named = tuple(
        Route(
            method, path, registry[name], path.split("/")[2], registry[name].right, renamed, _identifier(method, path)
        )
        for method, path, name, renamed in NAMED
    )
    every = tuple(
        Route(
            "POST",
            f"/v1/operations/{operation.identifier}",
            operation,
            "operations",
            operation.right,
            (),
            operation.identifier,
        )
        for operation in registry
        if has_route(operation)
    )
    return named + every


def _identifier(method: Method, path: str) -> str:
    """Return the id of a route in the documentation: `post_memory_search`."""
    words = [part for part in path.removeprefix("/v1/").split("/") if not part.startswith("{")]
    return "_".join([method.lower(), *words])


# Names of the specification (AMGS §3, §11.2), so that what an answer says can be sent back in a request.
_ENDS: Final = {"source_id": "start", "target_id": "goal", "relation_type": "kind"}
SPECIFIED: Final[Mapping[str, Mapping[str, str]]] = {
    "block reinforce": {"ids": "blocks"},
    "block set": {"is_self_component": "own", "categories": "category"},
    "edge set": _ENDS,
    "edge remove": _ENDS,
    "frame assemble": {"type": "name", "frame_type": "name"},
    "frame define": {
        "frame_type": "base",
        "scoring_weights": "weights",
        "assembly_strategy": "assembly",
        "children": "child",
        "merge_strategy": "merge",
        "dedup_strategy": "dedup",
        "rescore_weights": "rescore",
    },
    "search": {"layers": "layer"},
}
"""The specification's names for parameters, by operation."""


def _without_evidence(result: SearchResult) -> SearchResult:
    """Return a search result without the evidence for each hit."""
    return replace(result, hits=tuple(replace(hit, evidence=()) for hit in result.hits))


def _keep_selected(frame: Frame) -> Frame:
    """Return a frame with only its selected candidates."""
    return replace(frame, candidates=frame.selected)


EXPLAINED: Final[Mapping[str, Callable[[Any], Any]]] = {"search": _without_evidence, "frame assemble": _keep_selected}
"""Operations whose plain answer is shortened unless the request has `explain`, and how."""

_PARTS: Final = ("recency", "centrality", "confidence", "similarity", "reinforcement")
_DEDUP: Final = {"content_hash": 0.0, "semantic_threshold": 0.95}
_Plain = str | int | float | bool | None
_Form = tuple[Any, Callable[[Any], Any]]
"""Another type in which a parameter may be passed, and the conversion to its own type."""


_RULES: Final = {
    "categories": "category",
    "statuses": "status",
    "meta": "tagged",
    "reinforced_since": "used_since",
    "window_hours": "window",
    "similarity_share": "share",
    **{
        name: name
        for name in (
            "category",
            "status",
            "tagged",
            "self_only",
            "since",
            "until",
            "used_since",
            "window",
            "gather",
            "without",
        )
    },
    **{name: name for name in ("pool", "hops", "selection", "top_k", "threshold", "share", "order")},
}
"""Keys allowed in `selection_rules`, as answers or the command line name them, and the parameter each sets."""
_UNLIMITED: Final = {
    "category": ["none"],
    "tagged": ["none"],
    **dict.fromkeys(("since", "until", "used_since", "without"), "none"),
    **dict.fromkeys(("window", "top_k"), 0),
}
"""The parameter value for a rule that is null or empty: no limit."""


def _spread_rules(rules: Any, arguments: dict[str, Any]) -> None:
    """Convert the selection rules of blocks, in the form of an answer's `rule` (AMGS §5.2) or by parameter names."""
    if not isinstance(rules, Mapping):
        raise PydanticCustomError("rules", "selection_rules are an object", {})
    flat = {**rules, **(rules.get("filter") or {})}
    for word, value in flat.items():
        if word == "filter" or (word in ("current", "as_of") and not value):
            continue
        if word not in _RULES:
            known = ", ".join(_RULES)
            raise PydanticCustomError(
                "rule", "selection_rules hold no {word}; they are {known}", {"word": word, "known": known}
            )
        name = _RULES[word]
        if value in (None, "", [], {}):
            value = _UNLIMITED.get(name)
        value = [value] if name in ("category", "status") and isinstance(value, str) else value
        _set_parameter(arguments, f"selection_rules.{word}", name, value)


def _spread_budget(allocation: Any, arguments: dict[str, Any]) -> None:
    """Convert the budget allocation of children (AMGS §4.4): a strategy, or tokens by the name of the child."""
    if not isinstance(allocation, Mapping):
        _set_parameter(arguments, "budget_allocation", "budget_strategy", allocation)
        return
    tokens = {str(name): value for name, value in allocation.items()}
    if not tokens or not all(isinstance(value, int | float) and value >= 0 for value in tokens.values()):
        raise PydanticCustomError("budget", "budget_allocation is a strategy, or tokens by the name of a child", {})
    children = [_child_text(child).partition(":")[0] for child in arguments.get("child") or tokens]
    if sorted(children) != sorted(tokens):
        raise PydanticCustomError(
            "budget", "budget_allocation names {children}, each once", {"children": ", ".join(children)}
        )
    total = sum(tokens.values())
    if total > 1:  # tokens; shares of the budget otherwise
        arguments.setdefault("budget", round(total))
    arguments["child"] = [f"{name}:{tokens[name] / max(total, 1):.6g}" for name in children]
    arguments.setdefault("budget_strategy", "static")


_Spread = tuple[Any, Callable[[Any, dict[str, Any]], None]]
"""A type of a field, and the function that sets the several parameters it stands for."""
_SPREAD: Final[Mapping[str, Mapping[str, _Spread]]] = {
    "frame define": {
        "selection_rules": (dict[str, Any], _spread_rules),
        "budget_allocation": (Literal["static", "dynamic", "priority"] | dict[str, float], _spread_budget),
    }
}
"""Fields of the specification that stand for several parameters, by operation."""


def request_model(route: Route) -> type[BaseModel]:
    """Return the model of a request's parameters, without those in its path; it forbids unknown fields."""
    operation = route.operation
    definitions: dict[str, Any] = {
        name: (info.annotation, info)
        for name, info in model_of(operation).model_fields.items()
        if name not in route.in_path and name not in file_parameters(operation)
    }
    if operation.name in EXPLAINED:
        description = "Also say what spoke for each hit, or what became of every candidate of the frame."
        definitions["explain"] = (bool, Field(default=False, description=description))
    forms = {} if route.asks_in_query else _forms(operation, definitions)
    for name, (kind, _) in forms.items():
        definitions[name] = (definitions[name][0] | kind, definitions[name][1])
    names = {alias: name for alias, name in SPECIFIED.get(operation.name, {}).items() if name in definitions}
    for alias, name in names.items():
        described = Field(default=None, description=f"The specification's name for `{name}`.")
        definitions[alias] = (definitions[name][0] | None, described)
    spread = _SPREAD.get(operation.name, {})
    for alias, (kind, make) in spread.items():
        definitions[alias] = (kind | None, Field(default=None, description=inspect.getdoc(make)))
    validators: dict[str, Any] = {}
    if names or forms:
        validators["specified"] = model_validator(mode="before")(partial(_convert_body, names, forms, spread))
    config = ConfigDict(extra="forbid", title=route.identifier, json_schema_extra=partial(_allow_other_name, names))
    return create_model(route.identifier, __config__=config, __validators__=validators, **definitions)


def _convert_body(
    names: Mapping[str, str], forms: Mapping[str, _Form], spread: Mapping[str, _Spread], body: Any
) -> Any:
    """Convert a body to the parameters' own names and types."""
    if not isinstance(body, Mapping):
        return body
    arguments = dict(body)
    for alias, name in names.items():
        if (value := arguments.pop(alias, None)) is not None:
            _set_parameter(arguments, alias, name, value)
    for alias, (_, spread_out) in spread.items():
        if (value := arguments.pop(alias, None)) is not None:
            spread_out(value, arguments)
    for name, (_, make) in forms.items():
        if name in arguments:
            arguments[name] = make(arguments[name])
    return arguments


def _set_parameter(arguments: dict[str, Any], alias: str, name: str, value: Any) -> None:
    """Set a parameter from its other name; raises if it is passed twice."""
    if arguments.get(name) is not None:
        raise PydanticCustomError(
            "twice", "{alias} is another name for {name}; give only one", {"alias": alias, "name": name}
        )
    arguments[name] = value


def _forms(operation: Operation[..., Any], definitions: Mapping[str, Any]) -> dict[str, _Form]:
    """Return the other types in which the operation's parameters may be passed."""
    forms: dict[str, _Form] = {}
    for parameter in operation.parameters:
        if parameter.name not in definitions:
            continue
        if parameter.label == "KEY=VALUE":
            forms[parameter.name] = (dict[str, _Plain], _pairs)
        elif parameter.takes == "weights" or parameter.name == "rescore":
            forms[parameter.name] = (list[float] | dict[str, float], _weights)
        elif parameter.label == "yes|no":
            forms[parameter.name] = (bool, _yes_or_no)
        elif parameter.name == "child":
            forms[parameter.name] = (list[str | dict[str, Any]], _children)
        elif parameter.name == "category" and operation.name == "block set":
            forms[parameter.name] = (str, lambda value: [value] if isinstance(value, str) else value)
        elif parameter.name == "dedup":
            forms[parameter.name] = (
                Literal["content_hash", "semantic_threshold"],
                lambda value: _DEDUP.get(str(value), value),
            )
    return forms


def _pairs(value: Any) -> Any:
    """Convert `{"room": "attic"}` to `["room=attic"]`; null removes a key, as `room=` does."""
    if not isinstance(value, Mapping):
        return value
    if wrong := [key for key in value if "=" in str(key)]:
        raise PydanticCustomError("key", "the key {key} holds a =", {"key": repr(wrong[0])})
    if any(isinstance(item, (Mapping, list)) for item in value.values()):
        raise PydanticCustomError("value", "the values of metadata are texts, numbers or booleans", {})
    return [f"{key}={_format_value(item)}" for key, item in value.items()]


def _format_value(value: Any) -> str:
    """Return a JSON value as the command line writes it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _weights(value: Any) -> Any:
    """Convert five numbers, as a list or by name, to `.2,.2,.2,.2,.2`."""
    if isinstance(value, Mapping):
        if set(value) != set(_PARTS):
            raise PydanticCustomError("weights", "weights are {names}", {"names": ", ".join(_PARTS)})
        value = [value[name] for name in _PARTS]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _children(value: Any) -> Any:
    """Convert `[{"name": "SELF", "share": 0.25}]` to `["SELF:0.25"]`."""
    return [_child_text(child) for child in value] if isinstance(value, list) else value


def _child_text(child: Any) -> str:
    return f"{child.get('name', '')}:{child.get('share', 1.0)}" if isinstance(child, Mapping) else str(child)


def _yes_or_no(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _allow_other_name(names: Mapping[str, str], schema: dict[str, Any]) -> None:
    """Change the schema so that a required parameter may be passed under its other name."""
    required = schema.get("required", [])
    either = [
        {"anyOf": [{"required": [name]}, {"required": [alias]}]} for alias, name in names.items() if name in required
    ]
    if either:
        schema["required"] = [name for name in required if name not in names.values()]
        schema["allOf"] = either


def free_named_twice(document: dict[str, Any], table: Iterable[Route]) -> None:
    """Mark query parameters that have another name as optional in an OpenAPI document."""
    for route in table:
        twice = SPECIFIED.get(route.operation.name, {}).values()
        for parameter in document["paths"][route.path][route.method.lower()].get("parameters", ()):
            if parameter["in"] == "query" and parameter["name"] in twice:
                parameter["required"] = False
