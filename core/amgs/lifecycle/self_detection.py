"""Decide whether a block is part of the self: it says who the memory's owner is, or what they value (AMGS §10.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from amgs.identity import file_of
from amgs.text.prose import code_share, prose

_EXPLICIT = frozenset({"self", "identity"})
_KINDRED = frozenset({"value", "preference"})
_OF_VALUES = frozenset({"value", "values", "principle", "principles", "preference", "preferences", "belief", "beliefs"})
_SURE = 0.5
_STATEMENTS = 3
"""First-person statements that a note without an author must have."""

_LASTING = r"\bI(?: (?:\w+ly|much|also|still|do|always))* "
_PASSING = r"(?!(?:the|this|that|these|those|it|how|what|when|you|your|his|her|their|to (?:hear|see|know))\b)"
OWN_VALUE = re.compile(
    rf"{_LASTING}(?:value|believe in|stand for|cherish|care (?:deeply |most |a lot )?about|hold .{{1,40}} dear)\b"
    r"|\bmatters? (?:a lot |much |more |most )?to me\b|\bimportant to me\b|\bmy (?:core |own )?(?:values|principles?)\b"
    r"|\bI (?:never|refuse to) (?!\w+ed\b|saw\b|knew\b|thought\b|had\b|got\b|said\b|heard\b)\w+"
)
"""How people state what they value."""
OWN_PREFERENCE = re.compile(
    rf"{_LASTING}(?:prefer\b|(?:like|love|enjoy|hate|dislike) {_PASSING})|\bI(?:['’]d| would) rather\b"
    rf"|\bI (?:can['’]?t|cannot) stand {_PASSING}|\bI (?:do not|don['’]t) (?:like|enjoy) {_PASSING}"
    r"|\b[Mm]y favou?rites?\b"
)
"""How people state a preference; "I love this" is about a single occasion and does not count."""

_QUOTED = re.compile(
    r"“[^”]*”|\"[^\"\n]*\"|^>.*$|^\W{0,3}[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+){0,2}:(?=\s).*$", re.MULTILINE
)
"""Text of other people: quotations, and lines that begin with a name."""

_FIRST_PERSON = re.compile(r"\bI(?:['’](?:m|ve|d|ll))?\b(?! (?:/|O\b))|\b[Mm]y(?:self)?\b")
_SENTENCE = re.compile(r"[.!?…]+(?:\s|$)|\n\s*\n|\n\s*[-*]\s")
_MANUAL = re.compile(
    r"^(?:readme|changelog|changes|history|news|licen[cs]e|copying|contributing|authors|install|faq|notice|security"
    r"|code_of_conduct|release)\b",
    re.IGNORECASE,
)
_MANUAL_WORDS = re.compile(
    r"\b(?:install(?:ed|ing|ation)?|pip|package|library|documentation|repository|licen[cs]ed?|github|pull requests?"
    r"|api|python|command[ -]line|source code|open[ -]source|software|module|upstream|maintainers?|release[ds]?"
    r"|bug(?:s|fix(?:es)?)?|deprecated|default(?:s|ed)?|configur\w+)\b",
    re.IGNORECASE,
)
_MARKUP_SHARE = 0.2
_MANUAL_COUNT = 3


def is_explicit(meta: Mapping[str, Any]) -> bool:
    """Return whether the source marks the block as self, by a tag or its kind."""
    marks = {str(tag).lower() for tag in meta.get("tags") or ()} | {str(meta.get("kind", "")).lower()}
    return bool(marks & _EXPLICIT)


def find_author(meta: Mapping[str, Any]) -> str:
    """Return the author of an explicit self note; "" for any other block."""
    return str(meta.get("author") or "") if is_explicit(meta) else ""


def owner(authors: Mapping[str, int]) -> str:
    """Return the memory's owner: the author of most explicit self notes; "" where there are none.

    authors: number of such notes by author.
    """
    return min(authors, key=lambda name: (-authors[name], name)) if authors else ""


def documents(content: str, meta: Mapping[str, Any]) -> bool:
    """Return whether a block is from a manual, a change log or a licence, where nobody in particular speaks.

    Decided by its file's name, its share of code and markup, or its words.
    """
    name = PurePosixPath(file_of(str(meta.get("source") or ""))).stem
    if _MANUAL.match(name) or code_share(content) >= _MARKUP_SHARE:
        return True
    return len({m.lower() for m in _MANUAL_WORDS.findall(content)}) >= _MANUAL_COUNT


def is_self_component(
    category: str, confidence: float, meta: Mapping[str, Any], owner_name: str, content: str = ""
) -> bool:
    """Return whether a block is part of the self: marked so, or a confident value or preference in the owner's own
    words.

    The words are the owner's where the owner signed them; where a tag or folder calls them a value and nobody else
    signed them; or where several sentences say "I", or most say what "I" value or prefer, and it is no manual. "We
    value …" does not count. owner_name: the owner; while it is "", the author of any explicit value counts as the
    owner.
    """
    if is_explicit(meta):
        return True
    author = str(meta.get("author") or meta.get("speaker") or "")
    if category not in _KINDRED or confidence < _SURE or (owner_name and author and author != owner_name):
        return False
    if (owner_name and author == owner_name) or _has_value_mark(meta):
        return True
    return not author and not documents(content, meta) and _own_voice(content)


def _has_value_mark(meta: Mapping[str, Any]) -> bool:
    folders = PurePosixPath(file_of(str(meta.get("source") or ""))).parts[:-1]
    marks = [*(meta.get("tags") or ()), meta.get("kind", ""), *folders]
    return any(str(mark).lower() in _OF_VALUES for mark in marks)


def _own_voice(content: str) -> bool:
    sentences = [sentence for sentence in _SENTENCE.split(_QUOTED.sub("", prose(content))) if sentence.strip(" #*-\n")]
    count = sum(bool(_FIRST_PERSON.search(sentence)) for sentence in sentences)
    lasting = sum(bool(OWN_VALUE.search(sentence) or OWN_PREFERENCE.search(sentence)) for sentence in sentences)
    return count >= _STATEMENTS or lasting > len(sentences) / 2
