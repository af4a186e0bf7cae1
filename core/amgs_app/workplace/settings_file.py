"""Write settings into their file."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from amgs.errors import UsageError
from amgs_app.calls.pairs import is_section, say_domain, say_section
from amgs_app.places.paths import write_whole
from amgs_app.settings import WorkstationSettings, default_file, say_unknown_setting


def change_settings(pairs: Sequence[str], file: Path | None = None) -> list[str]:
    """Write `key=value` pairs into the file, made where there is none, and give the keys. Raises UsageError for a key
    that is none and for a value that its field does not take, and changes nothing.
    """
    import tomlkit

    path = (file if file is not None else default_file()).resolve()  # a link stays one
    document: Any = tomlkit.parse(path.read_text(encoding="utf-8")) if path.is_file() else tomlkit.document()
    keys: list[str] = []
    for key, _, text in (pair.partition("=") for pair in pairs):
        *sections, name = steps = key.strip().split(".")
        kind: Any = WorkstationSettings
        for section in sections:
            below = kind.model_fields[section].annotation if section in kind.model_fields else None
            kind = below if is_section(below) else None
            if kind is None:
                break
        if kind is None or name not in inspect.get_annotations(kind):
            raise UsageError(f"{key}: {say_unknown_setting(key)}", way_out="`settings` lists them.")
        if is_section(kind.model_fields[name].annotation):
            raise UsageError(say_section(key), way_out=f"`settings {key}` lists them.", title="Invalid setting")
        table = document
        for section in sections:
            table = table.setdefault(section, tomlkit.table(is_super_table=section != sections[-1]))
        if text == "default":
            table.pop(name, None)
        else:
            beside = {field: value for field, value in table.unwrap().items() if field in kind.model_fields}
            try:
                table[name] = kind.model_validate({**beside, name: text}).model_dump(mode="json")[name]
            except ValidationError as error:
                raise UsageError(say_domain(key, kind, error.errors()[0]), title="Invalid setting") from error
        keys.append(".".join(steps))
    write_whole(path, tomlkit.dumps(document))
    return keys
