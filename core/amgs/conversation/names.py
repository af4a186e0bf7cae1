"""Which capitalised words of a conversation are names: only all that is said tells (`index/entity_index.py`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from amgs.index.entity_index import lay_out
from amgs.text.name_uses import read_names

NO_NAMES = re.compile(r"(?!)")
_NO_NAME = re.compile(
    r".*['’](?:ve|ll|re|d|m|t)|(?:mm+|hm+|uh|um|oh|ah|yeah|yea|okay|kay|ok|right|alright|sorry|hello|hi|god|mister|"
    r"given|especially|euros?|dollars?|pounds?)(?:[ -].*)?",
    re.IGNORECASE,
)
"""Words of speech that are written with a capital in the middle of a sentence."""


def names_of(texts: Sequence[str], speakers: Sequence[str] = ()) -> re.Pattern[str]:
    """What finds the names of a conversation in its texts. speakers: who says each, whose names are known."""
    small: Counter[str] = Counter()
    readings = {}
    for number, text in enumerate(texts):
        readings[number], lower = read_names(text)
        small.update(lower)
    said_by = {number: who.lower() for number, who in enumerate(speakers) if who}
    things = lay_out(readings, small, speakers=said_by, titled={}, marked={}).things
    forms = {form for thing in things for form in thing.forms if _may_be(form)}
    if not forms:
        return NO_NAMES
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(rf"(?<![\w@/.-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w@/]|-\w)")


def named_in(text: str) -> list[str]:
    """What one text alone may name: its runs of capitalised words, without a word that only opens a sentence."""
    found = []
    for use in read_names(text)[0].uses:
        rest = use.text.partition(" ")[2] if use.opens else use.text
        if rest and not use.software and _may_be(rest):
            found.append(rest)
    return list(dict.fromkeys(found))


def _may_be(form: str) -> bool:
    return any(c.isupper() for c in form) and _NO_NAME.fullmatch(form) is None
