"""Text without markup: a line that is underlined, numbered after the one before, or alone in capitals is a heading.

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
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<dot>[.):]?)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"[^\W\d_][^\W_]*(?:[\s&,'’\"()/–—-]+[^\W_]+)*[)\"’]?")
_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_NO_END = ".,;:!?-…"
_NO_NUMBERED_END = ",;:-"
_MOST_WORDS = 8
"""Of a numbered heading that ends with a full stop; a longer one is a sentence."""
_DEEPEST_START = 2
_SHORTEST, _LONGEST_SHOWN = 4, 60


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading: lines [first, end) of the text; level from 1."""

    first: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A heading that may be one. bare: no text stands under it."""

    first: int
    end: int
    title: str
    number: tuple[int, ...]
    bare: bool


def headings(lines: Sequence[str]) -> tuple[TextHeading, ...]:
    """Return the headings of a text, in order. Underlined ones stand in each other as their signs first appear; a
    number says by its parts how deep it is, below these; what is in capitals stands beside the least deep number.
    """
    by_line = {heading.first: heading for heading in _find_underlined(lines)}
    taken = {line for heading in by_line.values() for line in range(heading.first, heading.end)}
    above = max((heading.level for heading in by_line.values()), default=0)
    paragraphs = [run for run in runs(lines, 0, len(lines)) if run[0] not in taken]
    for first, end, title in _in_capitals(lines, paragraphs):
        by_line[first] = TextHeading(first, end, above + 1, title)
    numbered = _in_order(_find_numbered_paragraphs(lines, paragraphs))
    depths = sorted({len(heading.number) for heading in numbered})
    for heading in numbered:
        level = above + 1 + depths.index(len(heading.number))
        by_line[heading.first] = TextHeading(heading.first, heading.end, level, heading.title)
    return tuple(heading for _, heading in sorted(by_line.items()))


def _find_underlined(lines: Sequence[str]) -> Iterator[TextHeading]:
    """Yield lines with one of signs under them that is as long, and perhaps the same above; each style is a level."""
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


def _find_numbered_paragraphs(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]]) -> Iterator[_Numbered]:
    """Yield paragraphs that begin with a number and may be headings."""
    for (first, end), (after, _) in pairwise([*paragraphs, (len(lines), len(lines))]):
        match = _NUMBERED.match(lines[first])
        if not match or after == len(lines):
            continue
        number, title = _parts(match), match["title"].strip()
        if not (match["word"] or match["dot"] or len(number) > 1 or title[0].isupper()):
            continue
        whole = " ".join(" ".join(lines[first:end]).split())
        follows = _NUMBERED.match(lines[after])
        bare = follows is not None and len(_parts(follows)) == len(number)
        one_line = end - first == 1 and len(whole) <= LONGEST and _may_end(title)
        several = (
            1 < end - first <= MOST_LINES
            and _indent(lines[after]) > _indent(lines[first])
            and not any(_NUMBERED.match(line) for line in lines[first + 1 : end])
            and whole[-1] not in _NO_NUMBERED_END + "."
        )
        if one_line or several:
            yield _Numbered(first, end, whole.rstrip("¶").removesuffix("."), number, bare)


def _in_order(candidates: Iterable[_Numbered]) -> list[_Numbered]:
    """Return the longest chain of candidates whose numbers follow each other; none if most of it has no text under
    it.
    """
    chains: list[list[_Numbered]] = []
    for heading in candidates:
        chain = next((chain for chain in reversed(chains) if _follows(chain[-1].number, heading.number)), None)
        if chain is not None:
            chain.append(heading)
        elif set(heading.number) <= {0, 1} and len(heading.number) <= _DEEPEST_START:
            chains.append([heading])
    best = max(chains, key=len, default=[])
    return best if len(best) > 1 and 2 * sum(heading.bare for heading in best) < len(best) else []


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Return whether a number is the next one beside, above or below another."""
    if len(number) == len(last) + 1 and number[:-1] == last:
        return number[-1] in (0, 1)
    at = next((n for n, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(last))
    beside = at < min(len(last), len(number)) and number[at] == last[at] + 1
    return beside and set(number[at + 1 :]) <= {0, 1}


def _in_capitals(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield lines in capitals that stand alone before some text."""
    for first, end in paragraphs[:-1]:
        line = lines[first].strip()
        letters = sum(map(str.isalpha, line))
        if (
            end - first == 1
            and line == line.upper() != line.lower()
            and _SHORTEST <= len(line) <= _LONGEST_SHOWN
            and line[-1] not in _NO_END
            and _CAPITALS.fullmatch(line)
            and letters >= max(_SHORTEST, 0.6 * len(line.replace(" ", "")))
        ):
            yield first, end, line


def _parts(match: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(part) for part in match["number"].split("."))


def _may_end(title: str) -> bool:
    return title[-1] not in _NO_NUMBERED_END and (title[-1] != "." or len(title.split()) <= _MOST_WORDS)


def _indent(line: str) -> int:
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = opened(raw)
    passages = PassageList(text.body)
    done = 0
    for heading in headings(passages.lines):
        passages.paragraphs(done, heading.first)
        passages.heading(heading.first, heading.end, heading.level, heading.title)
        done = heading.end
    passages.paragraphs(done, len(passages.lines))
    title = text.title or _title(passages)
    return ParsedDocument(
        text.body,
        tuple(passages.made),
        title=title,
        front=text.front,
        warnings=text.warnings,
        first_line=text.first_line,
    )


_LONGEST_TITLE = 80


def _title(passages: PassageList) -> str:
    """Return the heading that opens the text, else a short first line that stands alone and ends like no sentence."""
    if passages.made and passages.made[0].heading:
        return passages.made[0].path[-1]
    first = next(runs(passages.lines, 0, len(passages.lines)), (0, 0))
    line = passages.lines[first[0]].strip() if first[1] - first[0] == 1 and len(passages.made) > 1 else ""
    named = any(c.isalpha() for c in line) and line[-1] not in ".,;:!?…。" and line[0] not in "-*>|#/<["
    return line if named and len(line) <= _LONGEST_TITLE else ""
