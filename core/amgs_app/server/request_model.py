"""Define requests from the parameters of their operations: also under the names and in the forms of the specification
(AMGS §3, §11.2), so that the terms of an answer are valid in a request.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from amgs_app.calls.operation import model_of
from amgs_app.server.routes import Route, closed

if TYPE_CHECKING:
    from amgs.types import Frame, SearchResult
    from amgs_app.calls.operation import Operation

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
"""By operation: the specification's names, each with the parameter that it stands for."""


def _without_evidence(result: SearchResult) -> SearchResult:
    return replace(result, hits=tuple(replace(hit, evidence=()) for hit in result.hits))


def _keep_selected(frame: Frame) -> Frame:
    return replace(frame, candidates=frame.selected)


EXPLAINED: Final[Mapping[str, Callable[[Any], Any]]] = {"search": _without_evidence, "frame assemble": _keep_selected}
"""Operations whose plain answers say only what was chosen, unless the request has `explain`; and how."""

_PARTS: Final = ("recency", "centrality", "confidence", "similarity", "reinforcement")
_DEDUP: Final = {"content_hash": 0.0, "semantic_threshold": 0.95}
_Plain = str | int | float | bool | None
_Form = tuple[Any, Callable[[Any], Any]]
"""A type that a parameter may be given as beside its own, and what makes the parameter's value of it."""


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
"""What `selection_rules` may hold, as an answer says it or as the command line does, with the parameter it is."""
_UNLIMITED: Final = {
    "category": ["none"],
    "tagged": ["none"],
    **dict.fromkeys(("since", "until", "used_since", "without"), "none"),
    **dict.fromkeys(("window", "top_k"), 0),
}
"""How a rule's null or empty value is written: no limit."""


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
        _put(arguments, f"selection_rules.{word}", name, value)


def _spread_budget(allocation: Any, arguments: dict[str, Any]) -> None:
    """Convert the budget allocation of children (AMGS §4.4): a strategy, or tokens by the name of the child."""
    if not isinstance(allocation, Mapping):
        _put(arguments, "budget_allocation", "budget_strategy", allocation)
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
"""A type that a word may be given as, and what puts the parameters that it stands for in its place."""
_SPREAD: Final[Mapping[str, Mapping[str, _Spread]]] = {
    "frame define": {
        "selection_rules": (dict[str, Any], _spread_rules),
        "budget_allocation": (Literal["static", "dynamic", "priority"] | dict[str, float], _spread_budget),
    }
}
"""By operation: words of the specification that stand for several parameters."""


def request_model(route: Route) -> type[BaseModel]:
    """Return the model of the parameters that a request gives beside those in its path; it refuses any other."""
    operation = route.operation
    definitions: dict[str, Any] = {
        name: (info.annotation, info)
        for name, info in model_of(operation).model_fields.items()
        if name not in route.in_path and name not in closed(operation)
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
        validators["specified"] = model_validator(mode="before")(partial(_as_parameters, names, forms, spread))
    config = ConfigDict(extra="forbid", title=route.identifier, json_schema_extra=partial(_one_of_two, names))
    return create_model(route.identifier, __config__=config, __validators__=validators, **definitions)


def _as_parameters(
    names: Mapping[str, str], forms: Mapping[str, _Form], spread: Mapping[str, _Spread], body: Any
) -> Any:
    """Return what was given, by the parameters' own names and in their own forms."""
    if not isinstance(body, Mapping):
        return body
    arguments = dict(body)
    for alias, name in names.items():
        if (value := arguments.pop(alias, None)) is not None:
            _put(arguments, alias, name, value)
    for alias, (_, spread_out) in spread.items():
        if (value := arguments.pop(alias, None)) is not None:
            spread_out(value, arguments)
    for name, (_, make) in forms.items():
        if name in arguments:
            arguments[name] = make(arguments[name])
    return arguments


def _put(arguments: dict[str, Any], alias: str, name: str, value: Any) -> None:
    """Give a parameter by another name; refuse one that is given already."""
    if arguments.get(name) is not None:
        raise PydanticCustomError(
            "twice", "{alias} is another name for {name}; give one of them", {"alias": alias, "name": name}
        )
    arguments[name] = value


def _forms(operation: Operation[..., Any], definitions: Mapping[str, Any]) -> dict[str, _Form]:
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
    """`{"room": "attic"}` as `["room=attic"]`; null takes a key away, as `room=` does."""
    if not isinstance(value, Mapping):
        return value
    if wrong := [key for key in value if "=" in str(key)]:
        raise PydanticCustomError("key", "the key {key} holds a =", {"key": repr(wrong[0])})
    if any(isinstance(item, (Mapping, list)) for item in value.values()):
        raise PydanticCustomError("value", "the values of metadata are texts, numbers or booleans", {})
    return [f"{key}={_format_value(item)}" for key, item in value.items()]


def _format_value(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _weights(value: Any) -> Any:
    """Return five numbers, in a list or by name, as `.2,.2,.2,.2,.2`."""
    if isinstance(value, Mapping):
        if set(value) != set(_PARTS):
            raise PydanticCustomError("weights", "weights are {names}", {"names": ", ".join(_PARTS)})
        value = [value[name] for name in _PARTS]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _children(value: Any) -> Any:
    """`[{"name": "SELF", "share": 0.25}]` as `["SELF:0.25"]`."""
    return [_child_text(child) for child in value] if isinstance(value, list) else value


def _child_text(child: Any) -> str:
    return f"{child.get('name', '')}:{child.get('share', 1.0)}" if isinstance(child, Mapping) else str(child)


def _yes_or_no(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _one_of_two(names: Mapping[str, str], schema: dict[str, Any]) -> None:
    """Allow a required parameter under its other name."""
    required = schema.get("required", [])
    either = [
        {"anyOf": [{"required": [name]}, {"required": [alias]}]} for alias, name in names.items() if name in required
    ]
    if either:
        schema["required"] = [name for name in required if name not in names.values()]
        schema["allOf"] = either


def free_named_twice(document: dict[str, Any], table: Iterable[Route]) -> None:
    """Say in an OpenAPI document that a parameter of a query may stand there under its other name instead."""
    for route in table:
        twice = SPECIFIED.get(route.operation.name, {}).values()
        for parameter in document["paths"][route.path][route.method.lower()].get("parameters", ()):
            if parameter["in"] == "query" and parameter["name"] in twice:
                parameter["required"] = False
