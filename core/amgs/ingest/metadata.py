"""Check and convert a text's metadata to the types that later stages rely on: texts, lists of texts, plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

LISTS = frozenset({"tags", "sources", "entities", "links", "dates", "headings", "refers_to", "categories"})
"""Keys whose values are lists of texts."""

TEXTS = frozenset({"source", "title", "author", "kind", "speaker", "dialogue", "document"})
"""Keys whose values are a text."""

_ENGINES = LISTS - {"tags"} | {
    "source",
    "follows",
    "part",
    "parts",
    "turn",
    "turns",
    "dialogue",
    "document",
    "lines",
    "tags_by_hand",
    "utc_offset",
    "said_at",
    "held_before",
}
_VERDICTS = frozenset(
    [
        "superseded_by",
        "superseded_at",
        "merged_into",
        "derived_from",
        "cited_spans",
        "split_part",
        "split_parts",
        "split_into",
        "stated_causes",
    ]
)
_DEEPEST = 50


def of_front_matter(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return front matter as metadata.

    A key that the engine itself writes, or that is nested where a text belongs, is stored as `note_` plus its name; of
    a nested value with a `name`, that is its text.
    """
    note_meta: dict[str, Any] = {}
    for key, value in front.items():
        nested = key in TEXTS | LISTS and _is_nested(value)
        note_meta[f"note_{key}" if key in _ENGINES or key in _VERDICTS or nested else key] = value
        if nested and isinstance(value, Mapping) and isinstance(value.get("name"), str):
            note_meta[key] = value["name"]
    return note_meta


def _is_nested(value: Any) -> bool:
    """Return whether a value is more than a text or a list of texts."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(member, Mapping | list) for member in value)
    )


def fit(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the values to their types; None is left out, times become ISO 8601.

    Raises ValueError, which says what is wrong, for values that JSON cannot hold.
    """
    clean_meta: dict[str, Any] = {}
    for key, value in meta.items():
        if not isinstance(key, str):
            raise ValueError(f"its metadata has a key that is no text, {key!r}")
        if value is None:
            continue
        if key in LISTS:
            clean_meta[key] = _texts(key, value)
        elif key in TEXTS:
            text = ", ".join(_texts(key, value)) if isinstance(value, list | tuple) else _text(key, value)
            if text.strip():
                clean_meta[key] = text
        elif key == "follows":
            clean_meta[key] = _before(value)
        else:
            clean_meta[key] = _plain(key, value, 0)
    try:
        json.dumps(clean_meta, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("its metadata holds half a surrogate pair, which cannot be stored") from None
    except ValueError:
        raise ValueError("its metadata holds a number that is infinite or none") from None
    return clean_meta


def of_the_engine(key: str) -> bool:
    """Return whether a key is reserved by the engine."""
    return key in _ENGINES or key in _VERDICTS or key in ("date", "ingest")


def change_tags(meta: Mapping[str, Any], added: Sequence[str], removed: Sequence[str] = ()) -> dict[str, Any]:
    """Return metadata with tags added and removed by hand; the changes are recorded too, so that they survive a new
    reading of the source.
    """
    stored_choices = meta.get("tags_by_hand")
    choices = stored_choices if isinstance(stored_choices, Mapping) else {}
    more = [tag for tag in dict.fromkeys((*choices.get("added", ()), *added)) if tag not in removed]
    less = [tag for tag in dict.fromkeys((*choices.get("removed", ()), *removed)) if tag not in added]
    rest = {key: value for key, value in meta.items() if key not in ("tags", "tags_by_hand")}
    written = meta.get("tags")
    old_tags = [str(tag) for tag in written] if isinstance(written, list | tuple) else []
    tags = list(dict.fromkeys([*(tag for tag in old_tags if tag not in less), *more]))
    by_hand = {name: tag_group for name, tag_group in (("added", more), ("removed", less)) if tag_group}
    return rest | ({"tags": tags} if tags else {}) | ({"tags_by_hand": by_hand} if by_hand else {})


def _texts(key: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list | tuple):
        return [_text(key, member) for member in value]
    return [_text(key, value)]


def _text(key: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    raise ValueError(f"its {key} is a {type(value).__name__}, not a text")


def _before(value: Any) -> str | dict[str, str]:
    """Return the source of the previous piece; by source if a text occurs in several."""
    if isinstance(value, Mapping):
        return {_text("follows", source): _text("follows", before) for source, before in value.items()}
    return _text("follows", value)


def _plain(key: str, value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"its {key} is nested more than {_DEEPEST} deep")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(key, member, depth + 1) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(key, member, depth + 1) for member in value]
    raise ValueError(f"its {key} holds a {type(value).__name__}, which cannot be stored")
