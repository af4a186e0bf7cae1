"""Quoting what a memory holds, so that in a text made of it no note speaks as that text."""

from __future__ import annotations

import re
from typing import Final

_BREAK: Final = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_BLANK: Final = rf"(?:[^\S{_BREAK}]|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*"
"""White space within a line, and what is not seen."""

_OWN: Final = re.compile(
    rf"(?<=[{_BREAK}])(?={_BLANK}(?:"
    r"\#\#|\#\d|\[\d{4}-\d\d-\d\d\]|\[\#\d"  # a section, a message; the day of a group, messages left out
    rf"|\((?:[^(){_BREAK}]*,\s*)?[0-9a-f]{{8,}}\s*[,)]"  # a citation
    r"|```|~~~|<[/!?]?[a-z]|<!--"
    rf"|(?:={{2,}}|-{{2,}})[^\S{_BREAK}]*(?=[{_BREAK}]|\Z))"  # what makes a heading of the line above
    rf"|(?![ ]{{4}}|\t){_BLANK}\#\s"  # a title; further in, # is a comment of code
    # Another speaker, after an empty line.
    r"|(?:(?<=\n\n)|(?<=\r\r)|(?<=\n[ \t]\n)|(?<=\n\r\n))"
    rf"{_BLANK}(?:human|user|assistant|system|developer)[ ]?:)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"<(?=\s*/?\s*(?:memory|note|system|function_\w+|tool_(?:result|use|call|response)s?|antml:\w+)\b"
    r"|\|\w+\|>|<?/?SYS>>)",
    re.IGNORECASE,
)
_TURN: Final = re.compile(r"\[(?=/?INST\])")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the order of letters around."""


def quote_text(text: str, *, opens_line: bool = True) -> str:
    """Return a text of a note with "> " before its lines that begin like a heading, a day, a citation, a fence, a tag
    or another speaker, with the tags of quotations, tools and chat templates as `&lt;`, and control characters made
    visible. To quote it again changes nothing.

    opens_line: whether the text begins a line; its first one is left where it does not.
    """
    lines = _OWN.sub("> ", f"\n{text}")[1:] if opens_line else _OWN.sub("> ", text)
    shown = _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", lines)
    return _TURN.sub("&#91;", _TAG.sub("&lt;", shown))
