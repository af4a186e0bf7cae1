"""Typer commands that read simple values without pydantic, and the options that every command has.

Missing values, texts and choices are read here, the rest by Typer; both must read alike (a test compares
them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

SHARED_PANEL: Final = "Options of every command"
"""Heading of these options in help."""
TOKEN: Final = "AMGS_TOKEN"
"""Variable that holds the token; safer than --token, since other users can read command lines."""

SHARED_OPTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "store": (
            "PATH",
            "The store, a file or postgresql://…; by default that of --corpus, else your own memory once it exists, "
            "else the sample.",
        ),
        "corpus": ("DIR", "A folder of notes with its own store."),
        "model": ("ID", "smollm2 (default), a path, a cached hub id, or tiny for no real model."),
        "now": ("ISO", "Freeze the clock at this instant, for reproducible runs."),
        "seed": ("N", "Random seed; 0 by default."),
        "theme": ("NAME", "Colour theme of the screen and of snapshots."),
        "format": ("table|json|csv", "Output format; table by default."),
        "settings": ("FILE", "A TOML file of settings."),
        "connect": ("URL", "A served memory, instead of a store: http://127.0.0.1:8420."),
        "token": ("TOKEN", f"The token for --connect; better in {TOKEN}."),
        "read_only": ("", "Open the store for reading: nothing is written to it."),
    }
)
"""Placeholder ("" for a switch) and help of each option, by name."""


def flag_of(name: str) -> str:
    """Return the flag of an option: `read_only` is `--read-only`."""
    return f"--{name.replace('_', '-')}"


_NOT_PLAIN: Final[Any] = object()
"""Marks a value that Typer must read."""
_FEW_DIGITS: Final = 18
"""Longest number, in digits, that is read here."""


class PlainCommand(TyperCommand):
    """A command that reads simple values itself, and whose help hides the options that all commands share."""

    def get_params(self, ctx: Any) -> Any:
        return _with_plain_readers(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; parameters stay hidden, so the command cannot be used afterwards."""
        hide_shared(self.params)
        _part_choices(self.params)
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of such commands; only the program's own help shows the shared options."""

    def get_params(self, ctx: Any) -> Any:
        return _with_plain_readers(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; parameters stay hidden, so the group cannot be used afterwards."""
        if ctx.parent is not None:
            hide_shared(self.params)
        _part_choices(self.params)
        super().format_help(ctx, formatter)


def hide_shared(parameters: Iterable[Any]) -> None:
    """Hide the shared options in a help; completion still offers them."""
    for parameter in parameters:
        if getattr(parameter, "rich_help_panel", None) == SHARED_PANEL:
            parameter.hidden = True


def _part_choices(parameters: Iterable[Any]) -> None:
    """Put blanks between the choices of each parameter in a help, which is wrapped at them and else within a word."""
    for parameter in parameters:
        kind = parameter.display_type_rich

        def parted(ctx: Any, kind: Callable[..., str | None] = kind) -> str | None:
            return (kind(ctx=ctx) or "").replace("|", " | ") or None

        vars(parameter)["display_type_rich"] = parted


class TyperReader(Protocol):
    """Typer's reader for the words of a parameter."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any: ...


class PlainFirst:
    """Reads a parameter's simple values. least, most: bounds of a number. otherwise: returns Typer's reader, for the
    rest.
    """

    def __init__(
        self, annotation: Any, least: float | None, most: float | None, otherwise: Callable[[], TyperReader]
    ) -> None:
        self._annotation = annotation
        self._least = least
        self._most = most
        self._otherwise = otherwise

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert the typed value; raises what Typer raises for an invalid value."""
        if float in (self._annotation, *get_args(self._annotation)):
            value = [_no_nan(item) for item in value] if isinstance(value, list | tuple) else _no_nan(value)
        if value == "" and Path in (self._annotation, *get_args(self._annotation)):  # not the current folder
            raise typer.BadParameter("takes a path, not an empty text", ctx=ctx, param=param)
        read = self._read(value, several=param.multiple or param.nargs == -1)
        return self._otherwise().coerce(value, param=param, ctx=ctx) if read is _NOT_PLAIN else read

    def _read(self, value: Any, *, several: bool) -> Any:
        """Convert a value or a list of values; _NOT_PLAIN if Typer must."""
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
        """Convert a text, a whole number or an enum value; _NOT_PLAIN for other types."""
        if kind is str and isinstance(value, str):
            return str(value)
        if kind is int:
            return self._whole_number(value)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return next((member for member in kind if value is member or value == member.value), _NOT_PLAIN)
        return _NOT_PLAIN

    def _whole_number(self, value: Any) -> Any:
        """Convert a whole number within the bounds; _NOT_PLAIN for anything else."""
        if isinstance(value, str) and len(value) <= _FEW_DIGITS and value.isascii() and value.isdigit():
            value = int(value)
        if type(value) is not int:
            return _NOT_PLAIN
        low = self._least is not None and value < self._least
        high = self._most is not None and value > self._most
        return _NOT_PLAIN if low or high else value


def _no_nan(value: Any) -> Any:
    """Return "" for nan and infinity, which bounds would let pass, so that every reader refuses them alike."""
    return "" if isinstance(value, str) and value.lstrip("+-").casefold() in ("nan", "inf", "infinity") else value


def _with_plain_readers(parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters, each with a reader of simple values."""
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
