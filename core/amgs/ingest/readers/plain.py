"""Text without markup: its headings are told by how they stand: underlined, numbered, in capitals, or
in the middle of the line.

What only looks like one is left alone: an item of a list that no text stands under, a line that ends like a sentence,
a number that does not follow the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers.line_ranges import PassageList, opened, runs

LONGEST = 80
"""Characters of a heading on one line."""

MOST_LINES = 3
"""A numbered heading that is longer goes on in the lines below it, if what follows is indented."""

_NUMBERED = re.compile(
    r"\s*(?P<word>(?:chapter|section|part|article|appendix|kapitel|chapitre|capitolo|capítulo|hoofdstuk)\s+)?"
    r"(?:(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<dot>[.):]?)|(?P<roman>[IVXL]+)\.)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_RUN_IN = re.compile(r"(?P<title>[^.!?]{3,60})\.\s+\S")
_SHOWN = re.compile(r"[^\W\d_][^\W_]*(?:[\s&,'’\"()/–—-]+[^\W_]+)*[)\"’]?")
_UNDER = re.compile(r"([=~^*#-])\1{2,}")
_LONGER_LINE = 10
_LOOSE = 100
"""Levels from here on are no level of a heading that is underlined in full."""
_SMALL_WORD = 4
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}
_NO_END = ".,;:!?-…"
_NO_NUMBERED_END = ",;:-"
_MOST_WORDS = 8
"""Of a numbered heading that ends with a full stop; a longer one is a sentence."""
_DEEPEST_START = 2
_WIDTH = 72
_LEAST_INDENT, _OFF_THE_MIDDLE = 8, 8
_SHORTEST, _LONGEST_SHOWN = 4, 60


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading: lines [first, end) of the text; level from 1. alone: they hold no other text."""

    first: int
    end: int
    level: int
    title: str
    alone: bool = True


_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A heading that may be one. number: () where it has none. bare: no text stands under it."""

    first: int
    end: int
    title: str
    number: tuple[int, ...] = ()
    alone: bool = True
    bare: bool = False


def headings(lines: Sequence[str]) -> tuple[TextHeading, ...]:
    """The headings of a text, in order. Underlined ones stand in each other as their signs first appear; a number says
    by its parts how deep it is; what is in capitals or in the middle stands beside the least deep of these.
    """
    drawn = list(_underlined(lines))
    taken = {line for one in drawn for line in range(one.first, one.end)}
    drawn += [one for one in _loosely_underlined(lines) if taken.isdisjoint(range(one.first, one.end))]
    taken = {line for one in drawn for line in range(one.first, one.end)}
    paragraphs = [run for run in runs(lines, 0, len(lines)) if run[0] not in taken]
    numbered = _in_order([*_numbered(lines, paragraphs), *_underlined_numbers(drawn)])
    taken |= {one.first for one in numbered}
    shown = [one for one in _shown(lines, paragraphs) if one.first not in taken]
    depths = sorted({len(one.number) for one in numbered})
    by_line = {one.first: (_Candidate(one.first, one.end, one.title), f"drawn {one.level}") for one in drawn}
    by_line |= {one.first: (one, "") for one in [*shown, *numbered]}
    levels: dict[str, int] = {}
    made = []
    for _, (one, style) in sorted(by_line.items()):
        level = levels.setdefault(style, 1 + len(levels) + max(0, len(depths) - 1) * ("" in levels))
        level += depths.index(len(one.number)) if one.number else 0
        made.append(TextHeading(one.first, one.end, level, one.title, one.alone))
    return tuple(made)


def _underlined(lines: Sequence[str]) -> Iterator[TextHeading]:
    """Lines with one of signs under them that is as long, and perhaps the same above; each style is a level."""
    levels: dict[tuple[str, bool], int] = {}
    for i in range(len(lines) - 1):
        title, under = lines[i].strip(), lines[i + 1].rstrip()
        if not title or not _ADORNMENT.match(under) or _ADORNMENT.match(lines[i]) or len(under) < len(title):
            continue
        above = lines[i - 1].rstrip() if i else ""
        over = above == under
        shown = " ".join(title.split())
        if not any(c.isalnum() for c in shown) or (not over and (above or lines[i][0].isspace())):
            continue
        level = levels.setdefault((under[0], over), len(levels) + 1)
        yield TextHeading(i - 1 if over else i, i + 2, level, shown)


def _loosely_underlined(lines: Sequence[str]) -> Iterator[TextHeading]:
    """Headings whose line is indented with them, or shorter than they are; one sign for one level."""
    levels: dict[str, int] = {}
    for at in range(len(lines) - 1):
        title, under = lines[at].strip(), lines[at + 1].strip()
        above = at == 0 or not lines[at - 1].strip()
        if (
            above
            and _UNDER.fullmatch(under)
            and any(c.isalpha() for c in title)
            and "  " not in title
            and len(title) <= LONGEST
            and len(title) / 2 <= len(under) <= len(title) + _LONGER_LINE
            and _indent(lines[at + 1]) <= _indent(lines[at]) + 1
        ):
            level = levels.setdefault(under[0], _LOOSE + len(levels))
            yield TextHeading(at, at + 2, level, " ".join(title.split()))


def _underlined_numbers(drawn: Iterable[TextHeading]) -> Iterator[_Candidate]:
    for one in drawn:
        match = _NUMBERED.match(one.title)
        if match:
            yield _Candidate(one.first, one.end, one.title, _number(match))


def _numbered(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]]) -> Iterator[_Candidate]:
    """Paragraphs that begin with a number and may be headings, or hold one before their text."""
    for (first, end), (after, _) in pairwise([*paragraphs, (len(lines), len(lines))]):
        match = _NUMBERED.match(lines[first])
        if not match or after == len(lines):
            continue
        number, title = _number(match), match["title"].strip()
        lead = bool(match["word"]) or bool(match["dot"]) or bool(match["roman"]) or len(number) > 1
        if not lead and not title[0].isupper():
            continue
        whole = " ".join(" ".join(lines[first:end]).split())
        follows = _NUMBERED.match(lines[after])
        bare = follows is not None and len(_number(follows)) == len(number)
        if end - first == 1 and len(whole) <= LONGEST and _may_end(title):
            yield _Candidate(first, end, whole.rstrip("¶").removesuffix("."), number, bare=bare)
        elif (
            1 < end - first <= MOST_LINES
            and _indent(lines[after]) > _indent(lines[first])
            and not any(_NUMBERED.match(line) for line in lines[first + 1 : end])
            and whole[-1] not in _NO_NUMBERED_END + "."
        ):
            yield _Candidate(first, end, whole, number, bare=bare)
        elif (run_in := _RUN_IN.match(title)) and _capitalised(run_in["title"]):
            lead_in = whole[: whole.index(title[:3])]
            yield _Candidate(first, end, f"{lead_in}{run_in['title']}", number, alone=False)


def _in_order(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """The longest chain of candidates whose numbers follow each other; none if most of it has no text under it."""
    chains: list[list[_Candidate]] = []
    for one in sorted(candidates, key=lambda one: one.first):
        chain = next((each for each in reversed(chains) if _follows(each[-1].number, one.number)), None)
        if chain is not None:
            chain.append(one)
        elif set(one.number) <= {0, 1} and len(one.number) <= _DEEPEST_START:
            chains.append([one])
    best = max(chains, key=len, default=[])
    return best if len(best) > 1 and 2 * sum(one.bare for one in best) < len(best) else []


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether a number is the next one beside, above or below another."""
    if len(number) == len(last) + 1 and number[:-1] == last:
        return number[-1] in (0, 1)
    at = next((n for n, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(last))
    beside = at < min(len(last), len(number)) and number[at] == last[at] + 1
    return beside and set(number[at + 1 :]) <= {0, 1}


def _shown(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]]) -> Iterator[_Candidate]:
    """Lines in capitals or in the middle that stand alone before some text, or in capitals over what is indented."""
    for (first, end), (after, _) in pairwise([*paragraphs, (len(lines), len(lines))]):
        line = lines[first].strip()
        if not _SHORTEST <= len(line) <= _LONGEST_SHOWN or line[-1] in _NO_END or not _SHOWN.fullmatch(line):
            continue
        letters = [c for c in line if c.isalpha()]
        if len(letters) < max(_SHORTEST, 0.6 * len(line.replace(" ", ""))):
            continue
        capitals, indent = line == line.upper() and line != line.lower(), _indent(lines[first])
        if end - first == 1 and after < len(lines):
            middle = (
                indent >= _LEAST_INDENT
                and indent > _indent(lines[after])
                and abs(indent - (_WIDTH - len(line)) / 2) <= _OFF_THE_MIDDLE
                and line[0].isupper()
            )
            if capitals or middle:
                yield _Candidate(first, end, line)
        elif end - first > 1 and capitals and indent == 0 and _indent(lines[first + 1]) > 0:
            yield _Candidate(first, first + 1, line)


def _number(match: re.Match[str]) -> tuple[int, ...]:
    if match["roman"]:
        values = [_ROMAN[sign] for sign in match["roman"].upper()]
        return (sum(-a if a < b else a for a, b in pairwise([*values, 0])),)
    return tuple(int(part) for part in match["number"].split("."))


def _may_end(title: str) -> bool:
    return title[-1] not in _NO_NUMBERED_END and (title[-1] != "." or len(title.split()) <= _MOST_WORDS)


def _capitalised(title: str) -> bool:
    """Whether all longer words begin with a capital, as in a title."""
    longer = [word for word in re.findall(r"[^\W\d_]+", title) if len(word) >= _SMALL_WORD]
    return bool(longer) and all(word[0].isupper() for word in longer) and len(title.split()) <= _MOST_WORDS


def _indent(line: str) -> int:
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = opened(raw)
    found = PassageList(text.body)
    done = 0
    for heading in headings(found.lines):
        found.paragraphs(done, heading.first)
        found.heading(heading.first, heading.end, heading.level, heading.title, alone=heading.alone)
        done = heading.end
    found.paragraphs(done, len(found.lines))
    title = text.title or _title(found)
    return ParsedDocument(
        text.body, tuple(found.made), title=title, front=text.front, warnings=text.warnings, first_line=text.first_line
    )


_LONGEST_TITLE = 80


def _title(found: PassageList) -> str:
    """The heading that opens the text, else a short first line that stands alone and ends like no sentence."""
    if found.made and found.made[0].heading:
        return found.made[0].path[-1]
    first = next(runs(found.lines, 0, len(found.lines)), (0, 0))
    line = found.lines[first[0]].strip() if first[1] - first[0] == 1 and len(found.made) > 1 else ""
    named = any(c.isalpha() for c in line) and line[-1] not in ".,;:!?…。" and line[0] not in "-*>|#/<["
    return line if named and len(line) <= _LONGEST_TITLE else ""
