"""Parameters of an operation as a pydantic model: their JSON schema, and a call from JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args, get_origin

from amgs_app.calls.call import Call
from amgs_app.calls.marks import Arg, Option, Takes, split_annotation

if TYPE_CHECKING:
    import inspect

    from pydantic import BaseModel

    from amgs_app.calls.operation import Operation


_NUMBER = r"\s*\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"
_FORMATS: Final[dict[str | None, dict[str, Any]]] = {
    "block": {"format": "block-reference", "examples": ["3ebb9b750d98"]},
    "weights": {
        "format": "weights",
        "pattern": f"^{_NUMBER}(,{_NUMBER}){{4}}$",
        "examples": [".2,.2,.2,.2,.2"],
    },
}
"""What the schema says of a string beyond its type. The operation itself refuses what does not fit, in words."""


def schema_of(chosen: Operation[..., Any]) -> dict[str, Any]:
    """The JSON schema of the parameters, with their help texts, bounds and choices."""
    return model_of(chosen).model_json_schema(by_alias=True)


def call_from_json(chosen: Operation[..., Any], given: Mapping[str, Any]) -> Call[Any]:
    """A call from JSON values by parameter name.

    Raises pydantic.ValidationError for values that the schema does not allow.
    """
    model = model_of(chosen).model_validate(given)
    return Call(chosen, {field: getattr(model, field) for field in type(model).model_fields})


@lru_cache(maxsize=256)
def model_of(chosen: Operation[..., Any]) -> type[BaseModel]:
    """A model whose fields are the parameters; it refuses any other."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {name: _field(each) for name, each in chosen.signature.parameters.items()}
    config = ConfigDict(extra="forbid", title=chosen.identifier, use_attribute_docstrings=False)
    return create_model(chosen.identifier, __config__=config, __doc__=chosen.help, **fields)


def _field(declared: inspect.Parameter) -> tuple[Any, Any]:
    from pydantic import Field

    kind, marks = split_annotation(declared.annotation)
    mark = next(each for each in marks if isinstance(each, Arg | Option))
    if mark.min is not None or mark.max is not None:
        kind = _bounded(kind, Field(ge=mark.min, le=mark.max))
    takes = next((each.kind for each in marks if isinstance(each, Takes)), None)
    if takes in _FORMATS:
        form = Field(json_schema_extra=_FORMATS[takes])
        kind = list[Annotated[str, form]] if get_origin(kind) is list else Annotated[kind, form]
    if declared.default is declared.empty:
        return kind, Field(description=mark.help)
    if declared.default is None:
        kind = kind | None
    return kind, Field(default=declared.default, description=mark.help)


def _bounded(kind: Any, bounds: Any) -> Any:
    """The type of a number, or of each number of a list, within bounds."""
    if get_origin(kind) is list:
        (each,) = get_args(kind)
        return list.__class_getitem__(Annotated[each, bounds])
    return Annotated[kind, bounds]
