"""Write settings into their TOML file; comments in it stay."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from amgs.errors import UsageError
from amgs_app.places.paths import write_whole
from amgs_app.settings import (
    WorkstationSettings,
    check_settings,
    default_file,
    raise_faults,
    read_settings,
    say_unknown_setting,
)
from amgs_app.terminal.output import is_section, say_domain, say_section


def change_settings(pairs: Sequence[str], file: Path | None = None) -> list[str]:
    """Write `key=value` pairs into the file, created if missing, and give the keys. What is wrong in the file is mended
    so, too. Raises UsageError where anything in it would be wrong afterwards, and changes nothing.
    """
    import tomlkit

    path = file if file is not None else default_file()
    if path.exists():
        read_settings(path)  # says which line is wrong
    document: Any = tomlkit.parse(path.read_text(encoding="utf-8-sig")) if path.exists() else tomlkit.document()
    keys: list[str] = []
    for key, _, text in (pair.partition("=") for pair in pairs):
        if key in keys:
            raise UsageError(f"{key} is set twice.", way_out="Give it once.", title="Invalid setting")
        if text != "default" or not _take_out(document, key):
            _set_value(document, key, text)
        keys.append(key)
    _, faults = check_settings(document.unwrap())
    raise_faults(faults, path, named=file is not None, typed_keys=keys)
    write_whole(path.resolve(), tomlkit.dumps(document))  # a link stays a link
    return keys


def _take_out(table: Any, key: str) -> bool:
    """Delete a key from a table, valid or not; return whether it was there."""
    if key in table:
        del table[key]
        return True
    first, _, rest = key.partition(".")
    return bool(rest) and isinstance(table.get(first), dict) and _take_out(table[first], rest)


def _set_value(document: Any, key: str, text: str) -> None:
    """Set a key of the document from its text. Raises UsageError for an unknown key or invalid value."""
    import tomlkit

    steps, table = key.split("."), document
    kind: type[BaseModel] = WorkstationSettings
    while is_section(below := _type_of(kind, steps[0])):
        if len(steps) == 1:
            raise UsageError(say_section(key), way_out=f"`settings {key}` lists them.", title="Invalid setting")
        if not isinstance(table.setdefault(steps[0], tomlkit.table(is_super_table=len(steps) > 2)), dict):
            section = key.removesuffix("." + ".".join(steps[1:]))
            raise UsageError(say_section(section), way_out=f"`settings {section}=default` takes out what stands there.")
        kind, table, steps = below, table[steps[0]], steps[1:]
    name, entry = steps[0], ".".join(steps[1:])
    is_table = get_origin(below) is dict
    if below is None or (entry and not is_table):
        raise UsageError(f"{key or '='!r}: {say_unknown_setting(key)}", way_out="`settings` lists them.")
    if is_table and not entry:
        raise UsageError(f"{key} is a table: set an entry in it, {key}.NAME=VALUE.", title="Invalid setting")
    if text == "default":
        return
    takes = get_args(below)[1] if is_table else kind.model_fields[name].rebuild_annotation()
    try:
        value = TypeAdapter(takes).validate_python(text)
    except ValidationError as error:
        fault = {**error.errors()[0], "loc": [] if is_table else [name]}
        raise UsageError(say_domain(key, kind, fault), title="Invalid setting") from error
    if is_table:
        table, name = table.setdefault(name, tomlkit.table()), entry
    table[name] = value


def _type_of(kind: type[BaseModel], name: str) -> Any:
    """Return the declared type of a section's setting; None for an unknown name."""
    return kind.model_fields[name].annotation if name in inspect.get_annotations(kind) else None
