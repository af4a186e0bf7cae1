"""Commands whose plain values are read without pydantic, which Typer imports for every parameter, given or not.

What is not given, a text and a word of a choice need no parser; what remains (numbers, dates, paths, wrong words) is
Typer's, with its messages. Both read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final, Protocol, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from amgs_app.calls.shared_options import SHARED_PANEL

_NOT_PLAIN: Final[Any] = object()
_FEW_DIGITS: Final = 18


class PlainCommand(TyperCommand):
    """A command that reads plain values itself, and whose help leaves out the options that all commands share."""

    def get_params(self, ctx: Any) -> Any:
        return _plainly(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the command is of no use after that."""
        hide_shared(self.params)
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of commands that does so; the program's own help has those options."""

    def get_params(self, ctx: Any) -> Any:
        return _plainly(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the group is of no use after that."""
        if ctx.parent is not None:
            hide_shared(self.params)
        super().format_help(ctx, formatter)


def hide_shared(parameters: Iterable[Any]) -> None:
    """Hide the options of every command from a help; completion still offers them."""
    for parameter in parameters:
        if getattr(parameter, "rich_help_panel", None) == SHARED_PANEL:
            parameter.hidden = True


class TyperReader(Protocol):
    """Typer's reader for the words of one parameter."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any: ...


class PlainFirst:
    """Reads what is plain of one parameter. least, most: of a number. otherwise: gives Typer's reader, for all else."""

    def __init__(
        self, annotation: Any, least: float | None, most: float | None, otherwise: Callable[[], TyperReader]
    ) -> None:
        self._annotation = annotation
        self._least = least
        self._most = most
        self._otherwise = otherwise

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the operation takes it; raises what Typer raises for one that is wrong."""
        if float in (self._annotation, *get_args(self._annotation)):
            value = [_no_nan(item) for item in value] if isinstance(value, list | tuple) else _no_nan(value)
        read = self._read(value, several=param.multiple or param.nargs == -1)
        return self._otherwise().coerce(value, param=param, ctx=ctx) if read is _NOT_PLAIN else read

    def _read(self, value: Any, *, several: bool) -> Any:
        if value is None:
            return () if several else None
        if get_origin(self._annotation) is not list:
            return self._read_item(value, self._annotation)
        if not isinstance(value, list | tuple):
            return _NOT_PLAIN
        (kind,) = get_args(self._annotation)
        read = [self._read_item(item, kind) for item in value]
        return _NOT_PLAIN if any(item is _NOT_PLAIN for item in read) else read

    def _read_item(self, value: Any, kind: Any) -> Any:
        if kind is str and isinstance(value, str):
            return str(value)
        if kind is int:
            return self._whole_number(value)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return next((member for member in kind if value is member or value == member.value), _NOT_PLAIN)
        return _NOT_PLAIN

    def _whole_number(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) <= _FEW_DIGITS and value.isascii() and value.isdigit():
            value = int(value)
        if type(value) is not int:
            return _NOT_PLAIN
        low = self._least is not None and value < self._least
        high = self._most is not None and value > self._most
        return _NOT_PLAIN if low or high else value


def _no_nan(value: Any) -> Any:
    """Return a number that is none, as a text that is none: no bound holds it, so that each reader would say another
    thing.
    """
    return "" if isinstance(value, str) and value.lstrip("+-").casefold() in ("nan", "inf", "infinity") else value


def _plainly(parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters, each with its reader of plain values."""
    parameter_list = list(parameters)
    for parameter in parameter_list:
        if isinstance(parameter, TyperArgument | TyperOption) and "get_runtime_param" not in vars(parameter):
            _give_reader(parameter)
    return parameter_list


def _give_reader(parameter: TyperArgument | TyperOption) -> None:
    kind, info = parameter.type_descriptor.annotation, parameter.type_descriptor.parameter_info
    if info.parser is None:
        reader = PlainFirst(kind, info.min, info.max, parameter.get_runtime_param)
        vars(parameter)["get_runtime_param"] = lambda: reader
