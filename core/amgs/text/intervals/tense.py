"""On which side of the day of writing a sentence speaks: by the verb or cue nearest to the date."""

from __future__ import annotations

import re

_REACH = 160
_AHEAD = re.compile(
    r"""\b(?:
    (?:will|would|should|shall|must|may|might|can|could|to|not)(?:\s+(?!be\b)\w+){0,2}?\s+be(?:\s+\w+)?|
    to\s+\w+(?:\s+\w+){0,2}\s+by(?=\s*$)|(?:is|are)\s+(?:need|requir|want)ed|
    will|shall|won['’]t|going\ to|gonna|'ll|’ll|would|should|must|can|
    can['’]t\ wait|may|might|need(?:s)?\ to|
    want(?:s)?\ to|to\ be|let['’]s|plan(?:s|ned|ning)?(?:\ (?:to|on|for))?|expect(?:s|ed|ing)?|schedul(?:e[sd]?|ing)|
    set\ (?:to|for)|due|hop(?:e|es|ing)\ to|look(?:ing)?\ forward|intend(?:s|ed)?|propos(?:e[sd]?|als?)|upcoming|
    deadline|effective|extended\ (?:to|until)|remind|please|is\ to|are\ to|redemption|terminates?|expires?|
    see\ you|^\s*(?:set|book|arrange|find|meet)|tomorrow|about\ to|ready\ for|excited\ (?:for|about)|has\ set)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_IRREGULAR = (
    "was|were|had|has|have|did|been|went|got|gone|came|took|taken|made|saw|seen|met|said|told|left|began|begun|held|"
    "found|gave|given|bought|brought|built|caught|chose|drew|drove|ate|fell|felt|fought|flew|forgot|grew|heard|kept|"
    "knew|led|lost|paid|put|ran|rose|sold|sent|shot|slept|spent|spoke|stood|stole|struck|taught|thought|threw|"
    "understood|won|wore|wrote|written|ago|just|already|yesterday|finally|since|last"
)
_BACK = re.compile(
    rf"\b(?:{_IRREGULAR}|(?!(?:need|seed|feed|speed|indeed|red|bed|wed)\b)[a-z]{{2,}}ed)\b", re.IGNORECASE
)
_STOP = re.compile(r"[.!?]\s+(?=[\"'“‘(]?[A-Z])|\n\s*\n|[!?]\s|;|:\s")
_DEADLINE = re.compile(r"\b(?:by|until|till)\s+(?:the\s+)?\S+(?:\s+\S+){0,3}$", re.IGNORECASE)
"""What a sentence without any other cue sets an end to, ending with the date: `ship by the 15th of March`."""
_ABBREVIATED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|No|Corp|Inc|Co|Ltd|Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z])\.\s+$"
)


def side_of(text: str, start: int, end: int) -> int:
    """-1 past, 1 future, 0 undecided, for what stands in characters [start, end) of a text.

    The nearest cue of its sentence decides; what stands before it is read first. A sentence without one sets a
    deadline, or goes on in the time of the sentences before. A cue for what is to come wins over a past form that
    overlaps it ("expected", "was scheduled to").
    """
    earlier, after = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    before = earlier
    for stop in reversed(list(_STOP.finditer(before))):
        if not _ABBREVIATED.search(before[: stop.end()]):
            before = before[stop.end() :]
            break
    for stop in _STOP.finditer(after):
        if not _ABBREVIATED.search(after[: stop.end()]):
            after = after[: stop.start()]
            break
    found = _last_cue(before) or _first_cue(after)
    if not found and _DEADLINE.search(before + text[start:end]):
        return 1
    return found or _last_cue(earlier)


def _last_cue(text: str) -> int:
    cues = [(m.end(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.end(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return max(cues)[1] if cues else 0


def _first_cue(text: str) -> int:
    cues = [(m.start(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.start(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return min(cues)[1] if cues else 0


def _without_ahead(text: str) -> str:
    """The text with the cues for what is to come blanked, so that "was expected" is not read as past."""
    return _AHEAD.sub(lambda m: " " * len(m[0]), text)
