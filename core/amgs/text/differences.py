"""Decide whether two texts say different things; every place that treats two texts as equal uses this rule.

Texts say the same where, sentence by sentence, they differ only in case, punctuation, layout, inflection,
filler words, the form of a unit or number, or British or American spelling. A sentence
that only one of them has is no difference as long as they share another, since a merge keeps it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from amgs.text.claims import SPELLED, terms
from amgs.text.intervals import read_told_days
from amgs.types import Block

_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SMALL = frozenset(("the", "a", "an", "our", "their", "my", "your", "its", "his", "her", "this", "that"))
_PLACED = frozenset(("of", "in", "at", "on", "near", "for", "under", "beside", "above", "below"))
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "i january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday",
    )
)
_TELLS = re.compile(
    r"(?:sa(?:ys|id)|writes|wrote|t(?:ells|old)|reports?|reported|measure[ds]?|count(?:s|ed)|read|reads|weigh(?:s|ed)"
    r"|checked|noted|thinks|thought|believes|remembers|claims|decide[ds]|agree[ds]|raise[ds]|lower(?:s|ed)|set|sets"
    r"|change[ds]|asks|wants|confirm(?:s|ed)|found)",
    re.IGNORECASE,
)
_BY = re.compile(r"\b(?:by|according to|says|said)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a statement. words: its words as `terms` gives them; beside: the words next to it, articles left out.

    qualifies: it tells which thing is meant ("the Orsa mill", "of Orsa", "Ada's"), and is not who does or gets
    something. tells: it names who says, measures or decides, and not what is spoken of.
    """

    words: frozenset[str]
    beside: frozenset[str] = frozenset()
    qualifies: bool = False
    tells: bool = False


@lru_cache(maxsize=4096)
def mentions(sentence: str, known: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """Runs of capitalised words, a word that opens the sentence only where it is among the known words (of `terms`)."""
    tokens = list(_WORD.finditer(sentence))
    name_mentions, at = [], 0
    while at < len(tokens):
        end = at
        while (
            end < len(tokens)
            and _is_name(tokens, end, sentence, known)
            and (end == at or _is_adjoining(tokens, end, sentence))
        ):
            end += 1
        if end > at:
            name_mentions.append(_mention(tokens, at, end, sentence))
        at = max(end, at + 1)
    return tuple(m for m in name_mentions if m.words)


def name_different_things(
    first: Iterable[Mention], two: Iterable[Mention], around_one: frozenset[str], around_two: frozenset[str]
) -> bool:
    """Return whether two statements name different things: they share no name, or different names stand at the same
    words.

    around_one, around_two: the words (of `terms`) that a statement is read with; a name among them is named there too.
    """
    ours = [m for m in first if not m.tells]
    theirs = [m for m in two if not m.tells]
    only = [m for m in ours if not m.words <= around_two and not any(m.words >= t.words for t in theirs)]
    fresh = [m for m in theirs if not m.words <= around_one and not any(m.words >= o.words for o in ours)]
    if ours and theirs and len(only) == len(ours) and len(fresh) == len(theirs):
        return True
    return any(a.qualifies and b.qualifies and a.beside & b.beside for a in only for b in fresh)


def _is_name(tokens: Sequence[re.Match[str]], at: int, sentence: str, known: frozenset[str]) -> bool:
    word = tokens[at][0]
    if not word[0].isupper() or word.lower() in _NO_NAMES or word.lower() in _SMALL:
        return False
    opens = at == 0 or sentence[tokens[at - 1].end() : tokens[at].start()].strip(" ,;-") != ""
    return not opens or bool(terms(word) & known)


def _is_adjoining(tokens: Sequence[re.Match[str]], at: int, sentence: str) -> bool:
    before = tokens[at - 1]
    return sentence[before.end() : tokens[at].start()] == " " and not before[0].endswith(("'s", "’s"))


def _mention(tokens: Sequence[re.Match[str]], at: int, end: int, sentence: str) -> Mention:
    before = [t[0].lower() for t in tokens[:at]]
    article = bool(before) and before[-1] in _SMALL
    while before and before[-1] in _SMALL:
        before.pop()
    after = tokens[end][0] if end < len(tokens) else ""
    owns = tokens[end - 1][0].endswith(("'s", "’s"))
    placed = bool(before) and before[-1] in _PLACED
    verb = bool(_TELLS.fullmatch(after)) and not article
    has_by = bool(_BY.search(sentence[: tokens[at].start()]))
    near = terms(" ".join([*[w for w in before if terms(w)][-1:], after]))
    return Mention(
        terms(" ".join(t[0] for t in tokens[at:end])),
        near,
        not has_by and (owns or placed or (article and after.islower())),
        verb or has_by,
    )


_ABOUT_ONE_THING = 0.34
"""Share of the shorter sentence's words from which two sentences are about the same thing, so that the rest is a
difference.
"""

_SURE_DAY = 0.5

_RULER = re.compile(r"^[\s=\-~*_#|:+]*$")
_MARK = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+•]|\d{1,3}[.)])\s+)+")
_CHECKED = re.compile(r"^\s*\[([ xX])\]")
_LINK = re.compile(r"\[([^\[\]]*)\]\((\S*?)\)")
_EMPHASIS = re.compile(r"`|\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_END = re.compile(r"(?<=[.!?…;])[\"')\]]*\s+")
_SHORT_FORMS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(form, re.IGNORECASE), full)
    for form, full in (
        (r"\bcan(?:'t|not)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(it|that|he|she|there|here|what|who|where)'s\b", r"\1 is"),
        (r"'(?:re|m)\b", " is"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'s?(?!\w)", ""),
    )
)
_TOKEN = re.compile(
    r"(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<path>(?:[a-z]+://|(?<!\w)[~.]{0,2})?[\w.@%+-]*[/\\](?=[\w./\\~%+@:#?=&-]*[^\W\d])[\w./\\~%+@:#?=&-]*[\w/\\])"
    r"|(?P<time>\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?|\b\d{1,2}\s*[ap]\.?m\b\.?)"
    r"|(?P<sign>(?<![\w)\]])[-−](?=\d))"
    r"|(?P<number>\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?(?!\d)|(?<![^\W\d])v?\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\W\d_][\w]*)|(?P<between>(?<=\d)(?<!\d{4})(?<!\d{4}/\d\d)/(?=\d))|(?P<mark>\+\+|\w+|[?%&#~]|!=|[^\w\s])",
    re.IGNORECASE,
)
_UNITS: Mapping[str, str] = {
    short: unit
    for unit, named in {
        "second": "s sec secs seconds",
        "minute": "min mins minutes",
        "hour": "h hr hrs hours",
        "millisecond": "ms msec milliseconds",
        "kilometre": "km kilometres kilometer kilometers",
        "centimetre": "cm centimetres centimeter centimeters",
        "millimetre": "mm millimetres millimeter millimeters",
        "metre": "metres meter meters",
        "kilogram": "kg kilograms",
        "percent": "% pct",
        "euro": "eur euros",
    }.items()
    for short in named.split()
}
_SCALED = re.compile(r"[mM][A-Zb]")
"""A unit whose first letter scales it as it is written, and "Mb", which is no "MB": 5 mW, 5 MW."""
_ALIKE = {"am": "is", "are": "is", "were": "was", "has": "have", "does": "do", "an": "a"}
_AMERICAN_OR = re.compile(r"(?<=\w\w)(?<!^sc)our(?=(?:s|ed|ing|ful|ite|able)?$)")
_AMERICAN_ER = re.compile(r"^(cent|theat|fib|lit|calib|spect|somb|meag)re(?=[sd]?$)")
_SWAPPED = re.compile(r"(?<=c)ei|(?<=l)ei(?=v)")
_AMERICAN_Z = re.compile(r"(?<=\w\w\w)is(?=(?:e[sdr]?|ers|ing|ations?)$)")
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a the please just really quite very basically simply actually indeed literally certainly well oh ok okay hey "
        "hi um uh so that fyi btw remember note reminder kindly",
    )
)
_NOUNS = frozenset(("note", "reminder", "well"))
"""Filler words only at the beginning of a sentence."""

_PHRASES = re.compile(
    r"\b(?:by the way|for the record|of course|you know|keep in mind|bear in mind|as a reminder|in fact)\b,?",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Capt|Sgt|Rev)\.(?=\s)")
"""Abbreviations whose dot does not end a sentence."""
_SAID_ALOUD = frozenset("$€£¥<>=+±≤≥≠→←×÷°✓✔✅✗✘❌~#?")
Sentence = tuple[str, ...]


def say_otherwise(block: Block, other: Block) -> bool:
    """Return whether two blocks say different things: in their texts, their speakers, or the days that they mention."""
    speakers = {str(b.meta.get("speaker") or "") for b in (block, other)}
    mine, theirs = (
        {(t.first, t.last) for t in read_told_days(b.meta.get("dates") or ()) if t.confidence > _SURE_DAY}
        for b in (block, other)
    )
    return len(speakers) > 1 or not (mine <= theirs or theirs <= mine) or differ(block.content, other.content)


@lru_cache(maxsize=1024)
def differ(text: str, other: str) -> bool:
    """Return whether two texts say different things."""
    if normalise_words(text) == normalise_words(other):
        return False
    a, b = _sentences(text), _sentences(other)
    ours, theirs = ([_forms(s) for s in side] for side in (a, b))
    both = f"{text}\n{other}"
    if [s for s in ours if s in theirs] != [s for s in theirs if s in ours]:
        return True
    pairs = [
        (s, t)
        for s in a
        if _forms(s) not in theirs
        for t in b
        if _forms(t) not in ours and (_about_one_thing(s, t) or _are_alike(s, t, both))
    ]
    shared = any(s in theirs for s in ours)
    return not (shared or pairs) or any(not _are_alike(s, t, both) for s, t in pairs)


def normalise_words(text: str) -> str:
    """Return the words of a text, normalised; equal for texts that say the same in the same order."""
    return " ".join(w for sentence in _sentences(text) for w in _forms(sentence))


def find_replaced_words(statement: str, other: str) -> tuple[tuple[str, Sentence, Sentence, str], ...]:
    """Return where two statements of the same form have different words, equally many: (word before, words of the
    first, words of the second, word after); () where their forms differ.
    """
    a, b = (tuple(w for sentence in _sentences(text) for w in _forms(sentence)) for text in (statement, other))
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    if any(i2 - i1 != j2 - j1 for _, i1, i2, j1, j2 in steps):
        return ()
    return tuple(
        ("".join(a[i1 - 1 : i1]), a[i1:i2], b[j1:j2], "".join(a[i2 : i2 + 1]))
        for tag, i1, i2, j1, j2 in steps
        if tag == "replace"
    )


def _about_one_thing(s: Sentence, t: Sentence) -> bool:
    mine, theirs = set(_forms(s)), set(_forms(t))
    return len(mine & theirs) >= _ABOUT_ONE_THING * min(len(mine), len(theirs))


def _are_alike(s: Sentence, t: Sentence, text: str) -> bool:
    """Return whether two sentences are equal, up to words written apart and spelling mistakes."""
    if _join_words(s) == _join_words(t):
        return True
    return len(s) == len(t) and all(
        x == y or _is_spelling_variant(v, w, text) for v, w, x, y in zip(s, t, _forms(s), _forms(t), strict=True)
    )


@lru_cache(maxsize=4096)
def _join_words(sentence: Sentence) -> str:
    return "".join(w if w.isalpha() else f" {w} " for w in sentence)


def _is_spelling_variant(spelling: str, other: str, text: str) -> bool:
    """Return whether two words are one in British and American spelling, or "recieve" and "beleive". Any other letter
    makes another word: "butter" and "batter", "dining" and "dinning", "bleiben" and "blieben". Capitalised words are
    names and do not count.
    """
    if any(word.capitalize() in text for word in (spelling, other)):
        return False
    return _to_american(spelling) == _to_american(other)


def _to_american(word: str) -> str:
    """Return a word in American spelling (color, center, organize), with "ie" for "ei" after "c" and in "leiv"."""
    word = _AMERICAN_ER.sub(r"\1er", _SWAPPED.sub("ie", word))
    return _AMERICAN_Z.sub("iz", _AMERICAN_OR.sub("or", word))


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text as normalised words; layout gives none."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    plain = _PHRASES.sub(" ", _LINK.sub(r"\1 \2", plain))
    plain = _TITLE.sub(r"\1", plain)
    for form, full in _SHORT_FORMS:
        plain = form.sub(full, plain)
    parts: list[str] = [""]
    for line in plain.split("\n"):
        bare = _MARK.sub("", line)
        if _RULER.match(line):
            parts.append("")
        elif bare != line:
            state = _CHECKED.match(bare)
            parts.append(_CHECKED.sub("done " if state and state[1] != " " else "undone ", bare))
            parts += [""] * line.lstrip().startswith("#")
        else:
            parts[-1] += f" {line}"
    sentences = (_words(sentence) for part in parts for sentence in _END.split(_EMPHASIS.sub("", part)))
    return tuple(sentence for sentence in sentences if sentence)


_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "⁄": "/"})


def _words(sentence: str) -> Sentence:
    """Return the words of a sentence in normal form: numbers, times, units and spelled numbers alike."""
    words: list[str] = []
    number = False
    for m in _TOKEN.finditer(sentence):
        kind, raw = str(m.lastgroup), m[0]
        word = raw.lower()
        if kind == "path":
            word = raw.rstrip("/")
        elif kind == "time":
            word = _time(word)
        elif kind == "number":
            word = re.sub(r"(?<=\d)[,'](?=\d{3}(?!\d))", "", word.removeprefix("v"))
        elif kind == "word":
            word = (
                _UNITS.get(word, raw if _SCALED.fullmatch(raw) else word)
                if number
                else f"{SPELLED[word]:g}"
                if word in SPELLED
                else word
            )
            word = _ALIKE.get(word, word)
        elif word == "%":
            word = "percent"
        elif word == "&":
            word = "and"
        elif kind == "mark" and not word.isalnum() and word not in ("++", "!=") and not _is_sign(word):
            continue
        capital = raw == "A" and bool(words)  # vitamin A is no article
        if word in _FILLERS and not capital and not (word in _NOUNS and words):
            continue
        number = kind == "number"
        words.append(word)
    return tuple(words)


def _is_sign(character: str) -> bool:
    return character in _SAID_ALOUD or unicodedata.category(character[0]) == "So"


def _time(word: str) -> str:
    digits = [int(d) for d in re.findall(r"\d+", word)]
    if "m" in word:
        digits[0] = digits[0] % 12 + 12 * ("p" in word)
    return ":".join(f"{d:02}" for d in [*digits, 0][: max(2, len(digits))])


@lru_cache(maxsize=4096)
def _forms(sentence: Sentence) -> Sentence:
    """Return the stems of the words; a word with other characters than letters is unchanged."""
    return tuple(_stems().analyze(w)[0] if w.isalpha() else w for w in sentence)


@lru_cache(maxsize=1)
def _stems() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stemmer("english")).build()
