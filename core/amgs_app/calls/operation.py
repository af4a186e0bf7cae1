"""An operation: a function with typed parameters and a frozen result that every front end offers.

It is written once, `f(engine, …, [progress]) -> result`, and marked with `@operation`. The command line, the shell,
scripts, completion, forms and the JSON schema are derived from its signature; the schema comes of its parameters as a
pydantic model. Calling it carries nothing out: it gives a typed Call.
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
"""Beside what may run: free: beside something long, if it soon ends and only reads. turn: after what was asked before,
since it changes what a later command goes on from, or writes a line of its own. model: in the one thread that may read
the working context.
"""
Right = Literal["read", "write", "operate"]
"""What a token must allow. read: ask. write: also change the memory. operate: also attach a workstation, with all that
it can do, and start what may take the whole machine for minutes.
"""
Audience = Literal["everyone", "workstation"]
"""Who may ask for it: whoever reaches the service, or the one person at a workstation."""
Place = Literal["memory", "here"]
"""Where it is carried out: where the memory lies, or on the machine of whoever asks."""


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """Operation of the engines, by name.

    example: a line that calls it, as it is typed in the shell. long: it reports progress and can be cancelled. writes:
    it changes the store or the working context. pane: which pane shows its result; None for results that are only said.
    creates: on the command line, it may create the store that it works on; every other command needs one that is there.
    prompts: options that whoever sits at a terminal is asked for where none is given. asks: whoever sits at a terminal
    is shown its `dry_run` and asked first, unless they said `yes`. lists: the ids of the blocks that a result lists, in
    order, which `@1` refers to afterwards; None from it where this result lists none. keeps: the result is, or holds,
    the frame or the search that later calls go on from. json: it takes `--json` too, which whoever writes the result
    reads, and not the function. synonyms: what else people call it; `help WORD` and the palette find it by them. lane,
    audience, place: as the types say; without an audience, what takes the Operator is for the workstation and the rest
    for everyone. logs: it reads, and then writes a line or two of what it did, which it may do between the transactions
    of something long. needs: the right that a token must give; without it, the right to write for what writes, else to
    read. background: the flag with which it goes on in the background: it lets whatever waits for the working context
    go first, many times a second. writes_by: the arguments without which it only reads.
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
        """Name as an action id: `frame_assemble`."""
        return "_".join(self.words)

    @property
    def beside(self) -> bool:
        """Return whether it may run in another thread while something long works: it soon ends, only reads the memory,
        and leaves the working context and its model alone.
        """
        return (not self.writes or self.logs) and not self.long and self.lane == "free"

    @property
    def right(self) -> Right:
        """Right that a token needs for it, at least; see `Call.right`."""
        return self.needs or ("write" if self.writes and not self.writes_by else "read")

    @property
    def for_everyone(self) -> bool:
        """Return whether every client of the service may ask for it."""
        if self.audience is None:
            return not self.of_operator and self.place == "memory"
        return self.audience == "everyone"

    @property
    def help(self) -> str:
        """Full help text: the function's docstring, for the caller to break into lines."""
        return unwrap(inspect.getdoc(self.function) or self.summary)

    def listed(self, result: R) -> tuple[str, ...] | None:
        """Return the ids of the blocks that the result lists; None for an operation that leaves the last list alone."""
        ids = None if self.lists is None else self.lists(result)
        return None if ids is None else tuple(ids)

    @cached_property
    def _declared(self) -> tuple[inspect.Parameter, ...]:
        """Parameters of the function as they are written; those that it shares with others, `**given:
        Unpack[TypedDict]`, one by one, before the optional ones.
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
        return (*parameters[:place], *_keys(shared), *parameters[place:])

    @cached_property
    def _names(self) -> dict[str, Any]:
        """Namespace of the names in its annotations."""
        return sys.modules[self.function.__module__].__dict__

    @cached_property
    def _signature(self) -> inspect.Signature:
        """Signature for callers; annotations are not resolved."""
        own = [parameter for parameter in self._declared[1:] if parameter.name != _PROGRESS]
        return inspect.Signature([*own, _AS_JSON] if self.json else own)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature for callers, by keyword, with resolved annotations."""
        return inspect.Signature(
            [
                parameter.replace(annotation=_resolve(parameter.annotation, self._names), kind=parameter.KEYWORD_ONLY)
                for parameter in self._signature.parameters.values()
            ]
        )

    @cached_property
    def of_operator(self) -> bool:
        """Return whether it is about one person's view, and takes the Operator; every other takes the Engine."""
        return self._declared[0].name == "operator"

    @cached_property
    def wants_progress(self) -> bool:
        return any(parameter.name == _PROGRESS for parameter in self._declared)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Arguments in order, then the options."""
        descriptions = [describe_parameter(declaration) for declaration in self.signature.parameters.values()]
        return tuple(sorted(descriptions, key=lambda parameter: parameter.is_option))

    @cached_property
    def pairs(self) -> Mapping[str, Parameter]:
        """What may be written `key=value`, by its key; nothing where no parameter is a key."""
        pairs = {p.key: p for p in self.parameters if p.is_key or not p.is_option}
        return pairs if any(parameter.is_key for parameter in pairs.values()) else {}

    @property
    def manual(self) -> str:
        """Help, and below it a line for each key."""
        keys = [f"- {p.flags[0]}{p.label}: {p.help}" for p in self.pairs.values() if p.is_key]
        return "\n\n".join((self.help, *(["\n".join(keys)] if keys else [])))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameters."""

        return schema_of(self)

    def usage(self) -> str:
        """`frame assemble NAME [--query TEXT] …`"""
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
    """Make a function an operation; a Registry collects it from its module. The arguments are those of Operation."""

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


def _keys(shared: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the keys of a TypedDict as parameters; a Key may be left out, and what its annotation marks as Default."""
    for name, annotation in get_type_hints(shared, include_extras=True).items():
        marks = split_annotation(annotation)[1]
        default_mark = next((mark for mark in marks if isinstance(mark, Default)), None)
        if any(isinstance(mark, Key) for mark in marks):
            default_mark = Default(None)
        default = inspect.Parameter.empty if default_mark is None else default_mark.value
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind, default=default, annotation=annotation)


def _resolve(annotation: Any, names: dict[str, Any]) -> Any:
    """Return a string annotation as its value, in the operation's own module."""
    return eval(annotation, names) if isinstance(annotation, str) else annotation


_NUMBER = r"\s*\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"
_FORMATS: Final[dict[str | None, dict[str, Any]]] = {
    "block": {"format": "block-reference", "examples": ["3ebb9b750d98"]},
    "weights": {"format": "weights", "pattern": f"^{_NUMBER}(,{_NUMBER}){{4}}$", "examples": [".2,.2,.2,.2,.2"]},
}
"""What the schema says of a string beyond its type. The operation itself refuses what does not fit, in words."""


def unwrap(text: str) -> str:
    """Return a docstring with a line for each paragraph, and one for each item ("- lost: …") of a list, as whoever
    shows it breaks lines at another width.
    """
    lines = re.sub(r"(?<!\n)\n *(?![ \n]|- )", " ", text)
    return re.sub(r"(?m)^(?!- )(.+)\n(?=- )", r"\1\n\n", lines)


def schema_of(chosen: Operation[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of the parameters, with their help texts, bounds and choices."""
    return model_of(chosen).model_json_schema(by_alias=True)


def call_from_json(chosen: Operation[..., Any], values: Mapping[str, Any]) -> Call[Any]:
    """Return a call from JSON values by parameter name.

    Raises pydantic.ValidationError for values that the schema does not allow.
    """
    model = model_of(chosen).model_validate(values)
    return Call(chosen, {field: getattr(model, field) for field in type(model).model_fields})


@lru_cache(maxsize=256)
def model_of(chosen: Operation[..., Any]) -> type[BaseModel]:
    """Return a model whose fields are the parameters; it refuses any other."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {name: _field(parameter) for name, parameter in chosen.signature.parameters.items()}
    config = ConfigDict(extra="forbid", allow_inf_nan=False, title=chosen.identifier, use_attribute_docstrings=False)
    return create_model(chosen.identifier, __config__=config, __doc__=chosen.help, **fields)


def _field(declared: inspect.Parameter) -> tuple[Any, Any]:
    from pydantic import Field

    kind, marks = split_annotation(declared.annotation)
    mark = next(candidate for candidate in marks if isinstance(candidate, Arg | Option))
    if mark.min is not None or mark.max is not None:
        kind = _bound_type(kind, Field(ge=mark.min, le=mark.max))
    takes = next((candidate.kind for candidate in marks if isinstance(candidate, Takes)), None)
    if takes in _FORMATS:
        form = Field(json_schema_extra=_FORMATS[takes])
        kind = list[Annotated[str, form]] if get_origin(kind) is list else Annotated[kind, form]
    if declared.default is declared.empty:
        return kind, Field(description=mark.help)
    if declared.default is None:
        kind = kind | None
    return kind, Field(default=declared.default, description=mark.help)


def _bound_type(kind: Any, bounds: Any) -> Any:
    """Return the type of a number, or of each number of a list, within bounds."""
    if get_origin(kind) is list:
        (element,) = get_args(kind)
        return list.__class_getitem__(Annotated[element, bounds])
    return Annotated[kind, bounds]
