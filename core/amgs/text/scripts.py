"""Scripts other than Latin, and those that write without spaces between words: what of them is looked up as a term."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_CJK = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Han, kana, bopomofo and Hangul."""

_SOUTH_EAST = "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u1950-\u1974"
"""Thai, Lao, Myanmar, Khmer, Tai Le."""

# No pattern is compiled until a text needs it: these of many characters take 4 ms of each start.
_RUN = f"[{_CJK}]+|[{_SOUTH_EAST}]+"
_WRAPPED = f"(?<=[{_CJK}])[ \t]*\n[ \t]*(?=[{_CJK}])"
"""Where a line was broken inside a run."""

_HIRAGANA = "[\u3041-\u309f]+"
_KANA = "[\u3041-\u30fa]"
_HAN = "[\u3041-\u30fa\u3400-\u9fff]"
_LATIN = "\u0250"
"""From here on letters are of another script."""

_MOST_OF_ANOTHER_SCRIPT = 0.3

_WIDE = "[\uff01-\uff9f]+"
"""Letters and digits of full width, kana of half."""


def other_script(text: str) -> bool:
    """Return whether more than a few of a text's letters are of another script than Latin."""
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return sum(c >= _LATIN for c in letters) > _MOST_OF_ANOTHER_SCRIPT * len(letters)


def spaceless_language(text: str) -> str:
    """Return "japanese" for a text with kana, "chinese" for one with Han alone; empty for any other."""
    if text.isascii() or not re.search(_HAN, text):
        return ""
    return "japanese" if re.search(_KANA, text) else "chinese"


def grammatical(term: str) -> bool:
    """Return whether a term of Japanese is nothing but hiragana: endings and particles, and few words."""
    return not term.isascii() and re.fullmatch(_HIRAGANA, term) is not None


def spaceless(text: str) -> bool:
    """Return whether a text holds a script that is written without spaces."""
    return not text.isascii() and re.search(_RUN, text) is not None


def without_spaceless(text: str) -> str:
    """Return the text with spaces for what is written without them."""
    return text if text.isascii() else re.sub(_RUN, " ", text)


def spaced(text: str, *, singles: bool) -> str:
    """Return the text with each run of a script without spaces as its overlapping pairs of characters; a character
    takes its marks with it. singles: each character by itself, too, as documents need it to be found by one.

    Other text stays as it is, but for the composition of its accents (NFC).
    """
    if text.isascii():
        return text
    text = re.sub(_WIDE, lambda wide: unicodedata.normalize("NFKC", wide[0]), unicodedata.normalize("NFC", text))
    text = re.sub(_WRAPPED, "", text)
    return re.sub(_RUN, lambda run: f" {' '.join(_terms(run[0], singles=singles))} ", text)


def _terms(run: str, *, singles: bool) -> list[str]:
    letters: list[str] = []
    for c in run:
        if letters and unicodedata.category(c).startswith("M"):
            letters[-1] += c
        else:
            letters.append(c)
    pairs = [a + b for a, b in pairwise(letters)]
    return [*letters, *pairs] if singles or not pairs else pairs
