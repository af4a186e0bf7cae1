"""Files that are one JSON value, written anew as a whole each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.sessions.lines import unreadable

_NOT_JSON = "Wait until its program has written it, or give another file."


def document_at(path: Path) -> Any:
    """The JSON value that a file is. Raises InputError for a file that cannot be read, or is something else."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig", "replace"))
    except OSError as error:
        raise unreadable(path, error) from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply.", way_out="Give another file.") from error
    except ValueError as error:
        raise InputError(f"{path} is no whole JSON document.", way_out=_NOT_JSON) from error


def beside(path: Path) -> Any:
    """The JSON value of a file that may lie beside a session; None where there is none, or it cannot be read."""
    try:
        return document_at(path)
    except InputError:
        return None


def text_beside(path: Path) -> str:
    """The text of a file that may lie beside a session, without blanks around it; "" where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    except OSError:
        return ""
