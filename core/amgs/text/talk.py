"""Whether a text is a talk: turns, each after the name of who speaks."""

from __future__ import annotations

import re
from collections import Counter

_TURN = re.compile(r"^\W{0,3}([^\W\d_][\w.'’-]+(?: [\w.'’-]+){0,3}):(?=\s+\S)(.*)$", re.MULTILINE)
_SPOKEN = re.compile(
    r"\b(?:I|[Yy]ou|[Ww]e|[Mm]y|[Mm]e|[Uu]s|[Yy]our|[Oo]ur|[Yy]eah|[Yy]es|[Oo]kay|[Hh]ey)\b|\?|!"
)
_FEWEST_TURNS, _FEWEST_SPEAKERS, _OFTEN = 4, 2, 2
_OF_LINES, _OF_TURNS = 0.4, 0.3
"""So many of the lines begin a turn, and so many of the turns speak to or of somebody, at least."""


def is_talk(text: str) -> bool:
    """Whether at least two names that come again each begin lines of a text, and what they say is speech: "Type: …",
    "Default: …" of a manual are no names.
    """
    found = [(m[1].lower(), m[2]) for m in _TURN.finditer(text)]
    if len(found) < _FEWEST_TURNS:
        return False
    said = Counter(name for name, _ in found)
    speakers = {name for name, count in said.items() if count >= _OFTEN}
    turns = [words for name, words in found if name in speakers]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    spoken = sum(bool(_SPOKEN.search(words)) for words in turns)
    return (
        len(speakers) >= _FEWEST_SPEAKERS
        and len(turns) >= _OF_LINES * lines
        and spoken >= _OF_TURNS * len(turns)
    )
