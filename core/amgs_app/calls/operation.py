"""An operation: a function with typed parameters and a frozen result that every front end offers.

It is written once, `f(engine, …, [progress]) -> result`, and marked with `@operation`. Command line, shell, scripts,
completion, forms and JSON schema are derived from its signature. Calling an operation runs nothing: it returns a typed
Call.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from amgs_app.calls.call import Call
from amgs_app.calls.marks import Arg, Default, Key, Option, Parameter, Takes, describe_parameter, split_annotation
from amgs_app.panes.layout import Pane

if TYPE_CHECKING:
    from pydantic import BaseModel


P = ParamSpec("P")
R = TypeVar("R")


_PROGRESS = "progress"
_AS_JSON = inspect.Parameter(
    "as_json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, Option("--json", help="One JSON object, as with --format json.")],
)

Lane = Literal["free", "turn", "model"]
"""When it may run beside other work. free: at any time, since it is short and only reads. turn: after the operator's
earlier requests, since it changes what later ones continue from. model: only in the thread that owns the working
context.
"""
Right = Literal["read", "write", "operate"]
"""What a token must allow. read: ask. write: change the memory too. operate: also attach a workstation, or start work
that may take the whole machine for minutes.
"""
Audience = Literal["everyone", "workstation"]
"""Who may call it: any client of the service, or only the person at a workstation."""
Place = Literal["memory", "here"]
"""Where it runs: where the memory is, or on the caller's machine."""


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """An operation of the engines.

    example: a line that calls it, as typed in the shell. pane: the pane that shows its result; None for a result that
    is only printed. long: it reports progress and can be cancelled. writes: it changes the store or the working
    context; writes_by: the arguments without which it only reads. logs: it reads, then writes a short record, which may
    happen between the transactions of long work. keys: the screen's keys for it. creates: on the command line it may
    create the store; other commands need an existing store. asks: at a terminal, its `dry_run` is shown and confirmed
    first, unless `yes` is given. prompts: options that a terminal user is asked for if they are missing. lists: returns
    the block ids that a result lists, which `@1` then refers to; None if the last list stays. keeps: the result is, or
    holds, the frame or search that later calls continue from. json: it takes `--json`, which is read by whoever prints
    the result. synonyms: other words under which `help` and the palette find it. needs: the right a token must allow;
    by default write for what writes, else read. lane, audience, place: see the types; by default, what takes an
    Operator is for the workstation and the rest for everyone. background: the flag with which it runs in the background
    and yields to other requests.
    """

    name: str
    function: Callable[Concatenate[Any, P], R]
    summary: str
    example: str = ""
    pane: Pane | None = None
    long: bool = False
    writes: bool = False
    keys: tuple[str, ...] = ()
    creates: bool = False
    asks: bool = False
    prompts: tuple[str, ...] = ()
    lists: Callable[[Any], Iterable[str] | None] | None = None
    keeps: Literal["frame", "search"] | None = None
    json: bool = False
    synonyms: tuple[str, ...] = ()
    lane: Lane = "free"
    logs: bool = False
    needs: Right | None = None
    audience: Audience | None = None
    place: Place = "memory"
    background: str = ""
    writes_by: tuple[str, ...] = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Return the call with these arguments; raises TypeError for arguments that the signature does not take."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return Call(self, bound.arguments)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.name.split())

    @property
    def identifier(self) -> str:
        """Name as an identifier: `frame_assemble`."""
        return "_".join(self.words)

    @property
    def beside(self) -> bool:
        """Return whether it may run in a second thread during long work: it is short, only reads the memory, and does
        not use the working context.
        """
        return (not self.writes or self.logs) and not self.long and self.lane == "free"

    @property
    def right(self) -> Right:
        """Least right that a token needs for it; `Call.right` may need more."""
        return self.needs or ("write" if self.writes and not self.writes_by else "read")

    @property
    def for_everyone(self) -> bool:
        """Return whether every client of the service may call it."""
        if self.audience is None:
            return not self.of_operator and self.place == "memory"
        return self.audience == "everyone"

    @property
    def help(self) -> str:
        """Full help text: the function's docstring, a line per paragraph."""
        return unwrap(inspect.getdoc(self.function) or self.summary)

    def list_ids(self, result: R) -> tuple[str, ...] | None:
        """Return the block ids that the result lists; None for an operation that leaves the last list alone."""
        ids = None if self.lists is None else self.lists(result)
        return None if ids is None else tuple(ids)

    @cached_property
    def _declared(self) -> tuple[inspect.Parameter, ...]:
        """Parameters of the function as written, with those of `**given: Unpack[TypedDict]` expanded before the
        optional ones.
        """
        parameters = list(inspect.signature(self.function).parameters.values())
        if parameters[-1].kind is not inspect.Parameter.VAR_KEYWORD:
            return tuple(parameters)
        (shared,) = get_args(_resolve(parameters.pop().annotation, self._names))
        optional = [
            n
            for n, parameter in enumerate(parameters)
            if parameter.default is not parameter.empty and parameter.kind is parameter.KEYWORD_ONLY
        ]
        place = min(optional, default=len(parameters))
        return (*parameters[:place], *_parameters_of_dict(shared), *parameters[place:])

    @cached_property
    def _names(self) -> dict[str, Any]:
        """Namespace in which its annotations are resolved."""
        return sys.modules[self.function.__module__].__dict__

    @cached_property
    def _signature(self) -> inspect.Signature:
        """Signature for callers, with annotations unresolved."""
        own = [parameter for parameter in self._declared[1:] if parameter.name != _PROGRESS]
        return inspect.Signature([*own, _AS_JSON] if self.json else own)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature for callers, keyword-only, with annotations resolved."""
        return inspect.Signature(
            [
                parameter.replace(annotation=_resolve(parameter.annotation, self._names), kind=parameter.KEYWORD_ONLY)
                for parameter in self._signature.parameters.values()
            ]
        )

    @cached_property
    def of_operator(self) -> bool:
        """Return whether it works on a single person's view and takes the Operator; all others take the Engine."""
        return self._declared[0].name == "operator"

    @cached_property
    def wants_progress(self) -> bool:
        return any(parameter.name == _PROGRESS for parameter in self._declared)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Positional arguments in order, then the options."""
        descriptions = [describe_parameter(declaration) for declaration in self.signature.parameters.values()]
        return tuple(sorted(descriptions, key=lambda parameter: parameter.is_option))

    @cached_property
    def pairs(self) -> Mapping[str, Parameter]:
        """Parameters that may be written `key=value`, by key; empty if no parameter is a key."""
        pairs = {p.key: p for p in self.parameters if p.is_key or not p.is_option}
        return pairs if any(parameter.is_key for parameter in pairs.values()) else {}

    @property
    def manual(self) -> str:
        """Help, with a line for each key below it."""
        keys = [f"- {p.flags[0]}{p.label}: {p.help}" for p in self.pairs.values() if p.is_key]
        return "\n\n".join((self.help, *(["\n".join(keys)] if keys else [])))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameters."""

        return schema_of(self)

    def usage(self) -> str:
        """Return the usage line: `frame assemble NAME [--query TEXT] …`."""
        words = [self.name]
        for parameter in self.parameters:
            if parameter.is_key and not parameter.required:
                continue
            if parameter.is_key:
                word = parameter.flags[0] + parameter.label
            elif not parameter.is_option:
                word = parameter.label + ("…" if parameter.many else "")
            else:
                word = parameter.flags[0] + ("" if parameter.is_switch else f" {parameter.label}")
            words.append(word if parameter.required else f"[{word}]")
        if self.pairs:
            words.append("[KEY=VALUE …]")
        return " ".join(words)


def operation(
    name: str,
    *,
    summary: str,
    example: str = "",
    pane: Pane | None = None,
    long: bool = False,
    writes: bool = False,
    keys: Sequence[str] = (),
    creates: bool = False,
    asks: bool = False,
    prompts: Sequence[str] = (),
    lists: Callable[[Any], Iterable[str] | None] | None = None,
    keeps: Literal["frame", "search"] | None = None,
    json: bool = False,
    synonyms: Sequence[str] = (),
    lane: Lane = "free",
    logs: bool = False,
    needs: Right | None = None,
    audience: Audience | None = None,
    place: Place = "memory",
    background: str = "",
    writes_by: Sequence[str] = (),
) -> Callable[[Callable[Concatenate[Any, P], R]], Operation[P, R]]:
    """Turn a function into an operation, which a Registry then collects from its module. The arguments are the fields
    of Operation.
    """

    def mark(function: Callable[Concatenate[Any, P], R]) -> Operation[P, R]:
        return Operation(
            name,
            function,
            summary,
            example,
            pane,
            long,
            writes,
            tuple(keys),
            creates,
            asks,
            tuple(prompts),
            lists,
            keeps,
            json,
            tuple(synonyms),
            lane,
            logs,
            needs,
            audience,
            place,
            background,
            tuple(writes_by),
        )

    return mark


def _parameters_of_dict(shared: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the keys of a TypedDict as parameters; a Key and a key marked with Default are optional."""
    for name, annotation in get_type_hints(shared, include_extras=True).items():
        marks = split_annotation(annotation)[1]
        default_mark = next((mark for mark in marks if isinstance(mark, Default)), None)
        if any(isinstance(mark, Key) for mark in marks):
            default_mark = Default(None)
        default = inspect.Parameter.empty if default_mark is None else default_mark.value
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind, default=default, annotation=annotation)


def _resolve(annotation: Any, names: dict[str, Any]) -> Any:
    """Evaluate a string annotation in the namespace of the operation's module."""
    return eval(annotation, names) if isinstance(annotation, str) else annotation


_NUMBER = r"\s*\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"
_FORMATS: Final[dict[str | None, dict[str, Any]]] = {
    "block": {"format": "block-reference", "examples": ["3ebb9b750d98"]},
    "weights": {"format": "weights", "pattern": f"^{_NUMBER}(,{_NUMBER}){{4}}$", "examples": [".2,.2,.2,.2,.2"]},
}
"""What the schema adds to a string, by what the parameter names. The operation itself refuses values that
do not fit.
"""


def unwrap(text: str) -> str:
    """Return a docstring with a line per paragraph and per list item ("- lost: …"), for callers that wrap at another
    width.
    """
    lines = re.sub(r"(?<!\n)\n *(?![ \n]|- )", " ", text)
    return re.sub(r"(?m)^(?!- )(.+)\n(?=- )", r"\1\n\n", lines)


def schema_of(chosen: Operation[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of the parameters, with their help texts, bounds and choices."""
    return model_of(chosen).model_json_schema(by_alias=True)


def call_from_json(chosen: Operation[..., Any], values: Mapping[str, Any]) -> Call[Any]:
    """Validate JSON values by parameter name and return the call.

    Raises pydantic.ValidationError for values that the schema does not allow.
    """
    model = model_of(chosen).model_validate(values)
    return Call(chosen, {field: getattr(model, field) for field in type(model).model_fields})


@lru_cache(maxsize=256)
def model_of(chosen: Operation[..., Any]) -> type[BaseModel]:
    """Return a pydantic model whose fields are the parameters; it forbids any other."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {name: _field(parameter) for name, parameter in chosen.signature.parameters.items()}
    config = ConfigDict(extra="forbid", allow_inf_nan=False, title=chosen.identifier, use_attribute_docstrings=False)
    return create_model(chosen.identifier, __config__=config, __doc__=chosen.help, **fields)


def _field(declared: inspect.Parameter) -> tuple[Any, Any]:
    """Return a parameter as a pydantic field: its type with bounds and format, and its default and help."""
    from pydantic import Field

    type_, marks = split_annotation(declared.annotation)
    mark = next(candidate for candidate in marks if isinstance(candidate, Arg | Option))
    if mark.min is not None or mark.max is not None:
        type_ = _bound_type(type_, Field(ge=mark.min, le=mark.max))
    takes = next((candidate.kind for candidate in marks if isinstance(candidate, Takes)), None)
    if takes in _FORMATS:
        form = Field(json_schema_extra=_FORMATS[takes])
        type_ = list[Annotated[str, form]] if get_origin(type_) is list else Annotated[type_, form]
    if declared.default is declared.empty:
        return type_, Field(description=mark.help)
    if declared.default is None:
        type_ = type_ | None
    return type_, Field(default=declared.default, description=mark.help)


def _bound_type(kind: Any, bounds: Any) -> Any:
    """Return a number type, or a list of numbers, with bounds."""
    if get_origin(kind) is list:
        (element,) = get_args(kind)
        return list.__class_getitem__(Annotated[element, bounds])
    return Annotated[kind, bounds]
