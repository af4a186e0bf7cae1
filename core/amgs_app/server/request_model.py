"""What a request may hold, made from the parameters of its operation: also under the names and in the forms of the
specification (AMGS §3, §11.2), so that the words of an answer are words of a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

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
    "block set": {"is_self_component": "own"},
    "edge set": _ENDS,
    "edge remove": _ENDS,
    "frame assemble": {"type": "name"},
    "frame define": {"scoring_weights": "weights", "assembly_strategy": "assembly"},
    "search": {"layers": "layer"},
}
"""By operation: the specification's names, each with the parameter that it stands for."""


def _without_evidence(found: SearchResult) -> SearchResult:
    return replace(found, hits=tuple(replace(each, evidence=()) for each in found.hits))


def _chosen_alone(frame: Frame) -> Frame:
    return replace(frame, candidates=frame.selected)


EXPLAINED: Final[Mapping[str, Callable[[Any], Any]]] = {"search": _without_evidence, "frame assemble": _chosen_alone}
"""Operations whose plain answers say only what was chosen, unless the request has `explain`; and how."""

_PARTS: Final = ("recency", "centrality", "confidence", "similarity", "reinforcement")
_Plain = str | int | float | bool | None
_Form = tuple[Any, Callable[[Any], Any]]
"""A type that a parameter may be given as beside its own, and what makes the parameter's value of it."""


def request_model(route: Route) -> type[BaseModel]:
    """The model of the parameters that a request gives beside those in its path; it refuses any other."""
    operation = route.operation
    given: dict[str, Any] = {
        name: (each.annotation, each)
        for name, each in model_of(operation).model_fields.items()
        if name not in route.in_path and name not in closed(operation)
    }
    if operation.name in EXPLAINED:
        told = "Also say what spoke for each hit, or what became of every candidate of the frame."
        given["explain"] = (bool, Field(default=False, description=told))
    forms = {} if route.asks_in_query else _forms(operation, given)
    for name, (kind, _) in forms.items():
        given[name] = (given[name][0] | kind, given[name][1])
    names = {alias: name for alias, name in SPECIFIED.get(operation.name, {}).items() if name in given}
    for alias, name in names.items():
        described = Field(default=None, description=f"The specification's name for `{name}`.")
        given[alias] = (given[name][0] | None, described)
    validators: dict[str, Any] = {}
    if names or forms:
        validators["specified"] = model_validator(mode="before")(partial(_as_parameters, names, forms))
    config = ConfigDict(extra="forbid", title=route.identifier, json_schema_extra=partial(_one_of_two, names))
    return create_model(route.identifier, __config__=config, __validators__=validators, **given)


def _as_parameters(names: Mapping[str, str], forms: Mapping[str, _Form], given: Any) -> Any:
    """What was given, by the parameters' own names and in their own forms."""
    if not isinstance(given, Mapping):
        return given
    made = dict(given)
    for alias, name in names.items():
        value = made.pop(alias, None)
        if value is None:
            continue
        if made.get(name) is not None:
            raise PydanticCustomError(
                "twice", "{alias} is another name for {name}; give one of them", {"alias": alias, "name": name}
            )
        made[name] = value
    for name, (_, make) in forms.items():
        if name in made:
            made[name] = make(made[name])
    return made


def _forms(operation: Operation[..., Any], given: Mapping[str, Any]) -> dict[str, _Form]:
    found: dict[str, _Form] = {}
    for each in operation.parameters:
        if each.name not in given:
            continue
        if each.label == "KEY=VALUE":
            found[each.name] = (dict[str, _Plain], _pairs)
        elif each.takes == "weights":
            found[each.name] = (list[float] | dict[str, float], _weights)
        elif each.label == "yes|no":
            found[each.name] = (bool, _yes_or_no)
    return found


def _pairs(value: Any) -> Any:
    """`{"room": "attic"}` as `["room=attic"]`; null takes a key away, as `room=` does."""
    if not isinstance(value, Mapping):
        return value
    if wrong := [key for key in value if "=" in str(key)]:
        raise PydanticCustomError("key", "the key {key} holds a =", {"key": repr(wrong[0])})
    if any(isinstance(each, (Mapping, list)) for each in value.values()):
        raise PydanticCustomError("value", "the values of metadata are texts, numbers or booleans", {})
    return [f"{key}={_told(each)}" for key, each in value.items()]


def _told(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _weights(value: Any) -> Any:
    """Five numbers, in a list or by name, as `.2,.2,.2,.2,.2`."""
    if isinstance(value, Mapping):
        if set(value) != set(_PARTS):
            raise PydanticCustomError("weights", "weights are {names}", {"names": ", ".join(_PARTS)})
        value = [value[name] for name in _PARTS]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _yes_or_no(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _one_of_two(names: Mapping[str, str], schema: dict[str, Any]) -> None:
    """A parameter that must be given may be given under its other name."""
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
        for each in document["paths"][route.path][route.method.lower()].get("parameters", ()):
            if each["in"] == "query" and each["name"] in twice:
                each["required"] = False
