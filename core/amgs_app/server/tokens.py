"""Access rights: bearer tokens and the namespaces they open.

A token file is TOML. It holds only the SHA-256 of each token:

    [agent]

    sha256 = "9f86d0…"

    namespaces = ["notes"]

    may = "write"
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from amgs.errors import InputError, UsageError
from amgs.incoming import read_toml
from amgs_app.calls.operation import Right

RIGHTS: Final[tuple[Right, ...]] = get_args(Right)
NAMESPACE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
"""Allowed names of namespaces; the name is also a file name."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Sender of a request.

    namespaces: those it may open, the first by default; None for all. may: its right. near: it uses the socket beside
    the store, so this machine's files are its own.
    """

    name: str
    namespaces: tuple[str, ...] | None
    may: Right
    near: bool = False

    def opens(self, namespace: str) -> bool:
        """Return whether the caller may open this namespace."""
        return self.namespaces is None or namespace in self.namespaces

    def can(self, right: Right) -> bool:
        """Return whether the caller has this right or a greater right."""
        return RIGHTS.index(self.may) >= RIGHTS.index(right)


ANYONE: Final = Caller("anyone", None, "operate")
"""Caller of a server on loopback without tokens."""


class Tokens:
    """Tokens of a server; without any, every request is allowed."""

    def __init__(self, callers: Mapping[str, Caller] | None = None) -> None:
        """callers: by the SHA-256 of the token, in hexadecimal."""
        self._callers = dict(callers or {})

    def __len__(self) -> int:
        return len(self._callers)

    def caller(self, token: str) -> Caller | None:
        """Return the caller with this token, None for an unknown token; takes equally long for both."""
        if not self._callers:
            return ANYONE
        asked = digest(token)
        holder = None
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, asked):
                holder = caller
        return holder


def digest(token: str) -> str:
    """Return the form in which a token is stored: its SHA-256."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """Return a new random token."""
    return f"amgs_{secrets.token_urlsafe(32)}"


def read_tokens(path: Path) -> Tokens:
    """Read a token file; raises UsageError that names the invalid entry."""
    try:
        tables = read_toml(path, "`amgs token new` writes a file of tokens.")
    except InputError as error:
        raise UsageError(error.message, way_out=error.way_out) from error
    callers: dict[str, Caller] = {}
    for name, entry in tables.items():
        key = entry.get("sha256") if isinstance(entry, dict) else None
        if not isinstance(key, str) or not re.fullmatch(r"[0-9a-f]{64}", key):
            raise UsageError(f"{path}: [{name}] has no sha256.", way_out="`amgs token new` writes an entry.")
        if key in callers:
            raise UsageError(f"{path}: [{name}] and [{callers[key].name}] are the same token.")
        namespaces = entry.get("namespaces", [])
        may = entry.get("may", "write")
        if not isinstance(namespaces, list) or not namespaces:
            raise UsageError(f"{path}: [{name}] opens nothing.", way_out='Give it namespaces = ["notes"], for example.')
        callers[key] = Caller(
            name, tuple(check_namespace(str(namespace)) for namespace in namespaces), check_right_name(str(may))
        )
    return Tokens(callers)


def add_token(path: Path, name: str, namespaces: Sequence[str], may: Right) -> str:
    """Append a new token's entry to a file, and return the token, which is stored nowhere.

    Raises UsageError for a name that the file already has.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise UsageError(f"A token cannot be called {name!r}.", way_out="Use letters, digits, - and _.")
    for namespace in namespaces:
        check_namespace(namespace)
    if path.exists():
        read_tokens(path)
        if name in read_toml(path, ""):
            raise UsageError(
                f"{path} has a token called {name} already.", way_out="Give another name, or remove that token."
            )
    token = new_token()
    listed = ", ".join(f'"{namespace}"' for namespace in namespaces)
    entry = f'[{name}]\nsha256 = "{digest(token)}"\nnamespaces = [{listed}]\nmay = "{may}"\n\n'
    path.touch(mode=0o600)
    with path.open("a", encoding="utf-8") as file:
        file.write(entry)
    return token


def check_right_name(name: str) -> Right:
    """Return the name as a right; raises UsageError if it is no right."""
    for known in RIGHTS:
        if name == known:
            return known
    raise UsageError(f"There is no right {name!r}.", way_out=f"Choose among {', '.join(RIGHTS)}.")


def check_namespace(name: str) -> str:
    """Return the name; raises UsageError if it is not allowed for a namespace."""
    if not NAMESPACE.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a namespace.", way_out="Use small letters, digits, - and _, at most 63 of them."
        )
    return name
