"""Mask secrets in text, wherever it comes in, is shown or is sent; `amgs.secret_finder` finds them.

A masked secret shows its kind and a mark, `[masked: GitHub token #3f9a1c]`. The mark is an HMAC whose key is in a file
outside the store, so that nobody with the store can guess passwords by it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from amgs.secret_finder import find_secrets

SecretsKept = Literal["mask", "keep"]
T = TypeVar("T")

_MARK: Final = re.compile(r"\[masked: ([^\[\]#\n]{1,40}) #([0-9a-f]{6})([0-9a-f]*)\]")


@dataclass(slots=True)
class TakenSecrets:
    """Secrets taken out of texts, by mark. digits: of a mark."""

    secrets: dict[str, str] = field(default_factory=dict)
    digits: int = 6


_PLAIN: Final = (int, float, datetime, type(None))
_SHORTEST: Final = 16
"""Characters below which a word of letters and digits alone is no secret."""
_DEEPEST: Final = 100
"""Levels of nested containers; anything deeper is masked as a single text."""


def mask(value: T, taken: TakenSecrets | None = None, depth: int = 0) -> T:
    """Return a text, or a value with texts (rows, results, JSON), with a mark in place of each secret; unchanged where
    it has none. taken: receives the secrets.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, str):
        clean = value.isidentifier() if len(value) < _SHORTEST else _is_clean(value)
        return value if clean else _mask_text(value, taken)  # type: ignore[return-value]
    if depth > _DEEPEST and isinstance(value, (Mapping, list, tuple)):
        return _mask_deep(value, taken)
    if isinstance(value, (list, tuple)):
        members = [mask(member, taken, depth + 1) for member in value]
        if all(new is old for new, old in zip(members, value, strict=True)):
            return value
        return type(value)(*members) if hasattr(value, "_fields") else type(value)(members)
    if names := _fields_of(type(value)):  # type: ignore[arg-type]
        values = {name: getattr(value, name) for name in names}
        fresh = {name: new for name, old in values.items() if (new := mask(old, taken, depth + 1)) is not old}
        return replace(value, **fresh) if fresh else value  # type: ignore[type-var]
    if isinstance(value, Mapping):
        name = value.get("name", value.get("key"))
        changed: Any = {
            key: _mask_member(name if key == "value" else key, member, taken, depth) for key, member in value.items()
        }
        return value if all(changed[key] is value[key] for key in value) else changed
    return value


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    """Return the names of a dataclass's fields; none for another type."""
    return tuple(part.name for part in fields(kind) if part.init) if is_dataclass(kind) else ()


_CLEAN: Final = set[bytes]()
"""Digests of texts without a secret; of what is erased nothing is left to read."""
_MOST_CLEAN: Final = 8192


def _is_clean(text: str) -> bool:
    """Return whether a text has no secret."""
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    if key not in _CLEAN:
        if any(find_secrets(text)):
            return False
        if len(_CLEAN) >= _MOST_CLEAN:
            _CLEAN.clear()
        _CLEAN.add(key)
    return True


def mask_body(body: bytes) -> bytes:
    """Return a body without its secrets. JSON stays JSON; in other bodies a secret becomes stars of the same length."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("latin-1")
        for start, end, _ in find_secrets(text):
            text = text[:start] + "*" * (end - start) + text[end:]
        return text.encode("latin-1")
    masked = mask(value)
    return body if masked is value else json.dumps(masked).encode()


def _mask_deep(value: T, taken: TakenSecrets | None) -> T:
    """Return a value whose nesting is too deep to be walked: as it is without a secret, else as masked text."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        return "[nested too deeply]"  # type: ignore[return-value]
    masked = _mask_text(text, taken)
    return value if masked == text else masked  # type: ignore[return-value]


def _mask_member(key: Any, member: T, taken: TakenSecrets | None, depth: int) -> T:
    """Return a member of a mapping: its name tells what it is, as it does in a text."""
    if isinstance(key, str) and isinstance(member, str) and member:
        before = f'"{key}": "'
        text = _mask_text(f'{before}{member}"', taken)
        if text.startswith(before) and text.endswith('"') and text[len(before) : -1] != member:
            return text[len(before) : -1]  # type: ignore[return-value]
    return mask(member, taken, depth + 1)


def find_marks(values: Iterable[str]) -> tuple[str, ...]:
    """Return the kind of each masked secret in these texts, without repeats of the same secret."""
    marks = dict.fromkeys((mark[1], mark[2]) for text in values if "[masked: " in text for mark in _MARK.finditer(text))
    return tuple(kind for kind, _ in marks)


def count_digits(text: str) -> int:
    """Return the digits of the longest mark in a text; 0 for none."""
    return max((6 + len(mark[3]) for mark in _MARK.finditer(text)), default=0) if "[masked: " in text else 0


def tell_masked(kinds: Iterable[str]) -> str:
    """Return a sentence such as `2 secrets masked: GitHub token, private key`; "" for none."""
    counted = Counter(kinds)
    listing = ", ".join(kind if count == 1 else f"{count} × {kind}" for kind, count in counted.items())
    return f"{counted.total()} secret{'s' * (counted.total() > 1)} masked: {listing}" if counted else ""


def _mask_text(text: str, taken: TakenSecrets | None = None) -> str:
    """Return a text with a mark in place of each secret."""
    last, parts = 0, []
    for start, end, kind in sorted(find_secrets(text), key=lambda secret: secret[0]):
        if start >= last and "[masked:" not in text[start:end]:
            digest = _digest(text[start:end])
            mark = f"[masked: {kind} #{digest[: taken.digits if taken else 6]}]"
            parts += [text[last:start], mark]
            last = end
            if taken is not None:
                taken.secrets[mark] = text[start:end]
    return "".join([*parts, text[last:]]) if parts else text


def _digest(secret: str) -> str:
    return hmac.new(_key(), " ".join(secret.split()).encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def own_folder() -> Path:
    """Return the user's data folder, which need not be there."""
    import platformdirs

    folder = os.environ.get("AMGS_DATA") or platformdirs.user_data_dir("amgs", appauthor=False)
    return Path(folder).expanduser()


@cache
def _key() -> bytes:
    """Return the key of the marks, created on first use; for this process alone where it cannot be stored."""
    path, fresh = own_folder() / "masking.key", secrets.token_bytes(32)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(place, "wb") as file:
                file.write(fresh)
        return path.read_bytes() or fresh
    return fresh
