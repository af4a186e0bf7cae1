"""Words in any text: the commonest English ones, a number with its noun, and terms of scripts that have no
spaces between words.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

COMMON_WORDS: tuple[str, ...] = tuple(
    re.findall(
        r"\w+",
        "a an the and or but nor if then than so as at by for from in into of on onto to up with about "
        "am are is was were be been being do does did done have has had having can could will would shall "
        "should may might must i me my mine you your yours he him his she her hers it its we us our ours "
        "they them their theirs this that these those there here what when where which who whom whose "
        "why how not no any some such too very just also s t d ll re ve m",
    )
)
"""In lower case; single letters are what is left of "it's", "don't" and "I'll"."""


def plural(number: int, noun: str, many: str = "") -> str:
    """`1 block`, `37 blocks`, `2 categories`; many: the plural where it takes more than an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def tell_again(again: int, repeated: int = 0) -> list[str]:
    """`1 holds again`, `3 hold again`, of texts that were set aside and said again; `2 said again`, of others."""
    phrases = [f"{again:,} {'holds' if again == 1 else 'hold'} again"] if again else []
    return [*phrases, f"{repeated:,} said again"] if repeated else phrases


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
"""A line break inside a run of such characters."""

_HIRAGANA = "[\u3041-\u309f]+"
_KANA = "[\u3041-\u30fa]"
_HAN = "[\u3041-\u30fa\u3400-\u9fff]"
_LATIN = "\u0250"
"""First letter that is not of the Latin script."""

_MOST_OF_ANOTHER_SCRIPT = 0.3

_WIDE = "[\uff01-\uff9f]+"
"""Full-width letters and digits, half-width kana."""


def other_script(text: str) -> bool:
    """Return whether more than a few letters of a text are not Latin."""
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return sum(c >= _LATIN for c in letters) > _MOST_OF_ANOTHER_SCRIPT * len(letters)


def spaceless_language(text: str) -> str:
    """Return "japanese" for a text with kana, "chinese" for one with Han alone; empty for any other."""
    if text.isascii() or not re.search(_HAN, text):
        return ""
    return "japanese" if re.search(_KANA, text) else "chinese"


def is_grammatical(term: str) -> bool:
    """Return whether a term is all hiragana, which are mostly Japanese endings and particles."""
    return not term.isascii() and re.fullmatch(_HIRAGANA, term) is not None


def is_spaceless(text: str) -> bool:
    """Return whether a text has characters of a script that is written without spaces."""
    return not text.isascii() and re.search(_RUN, text) is not None


def remove_spaceless(text: str) -> str:
    """Return the text with a space in place of each run of a script without spaces."""
    return text if text.isascii() else re.sub(_RUN, " ", text)


def split_spaceless(text: str, *, singles: bool) -> str:
    """Return the text with each run of a script without spaces as overlapping pairs of characters, separated by spaces.

    A character keeps its combining marks. singles: add each character alone too, as in documents, so that a query of a
    single character finds them. Other text is unchanged, but for the composition of its accents (NFC).
    """
    if text.isascii():
        return text
    text = re.sub(_WIDE, lambda wide: unicodedata.normalize("NFKC", wide[0]), unicodedata.normalize("NFC", text))
    text = re.sub(_WRAPPED, "", text)
    return re.sub(_RUN, lambda run: f" {' '.join(_terms(run[0], singles=singles))} ", text)


def _terms(run: str, *, singles: bool) -> list[str]:
    """Return the pairs of characters of a run, each with its combining marks; with `singles` the characters too."""
    letters: list[str] = []
    for c in run:
        if letters and unicodedata.category(c).startswith("M"):
            letters[-1] += c
        else:
            letters.append(c)
    pairs = [a + b for a, b in pairwise(letters)]
    return [*letters, *pairs] if singles or not pairs else pairs
