"""Read text without markup: underlined lines, numbered lines in sequence and isolated lines in capitals are headings.

Not headings are: list items without text below, lines that end like a sentence, numbers out of sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers.line_ranges import PassageList, runs, split_front_matter

LONGEST = 80
"""Most characters of a heading on one line."""

MOST_LINES = 3
"""Most lines of a longer numbered heading; the text below it must be indented."""

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
"""Most words of a numbered heading that ends with a full stop; a longer one is a sentence."""
_DEEPEST_START = 2
_SHORTEST, _LONGEST_SHOWN = 4, 60


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading on lines [first, end) of the text; level from 1."""

    first: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A possible heading. empty: no text is below it."""

    first: int
    end: int
    title: str
    number: tuple[int, ...]
    empty: bool


def headings(lines: Sequence[str]) -> tuple[TextHeading, ...]:
    """Return the headings of a text, in order.

    Levels of underlined headings follow the order in which their styles first appear. Numbered headings are below
    these, by the number of their parts; headings in capitals are on the level of the shortest numbers.
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
    """Yield lines underlined over their whole length, perhaps also overlined; each style is a level."""
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
        empty = follows is not None and len(_parts(follows)) == len(number)
        one_line = end - first == 1 and len(whole) <= LONGEST and _may_end(title)
        several = (
            1 < end - first <= MOST_LINES
            and _indent(lines[after]) > _indent(lines[first])
            and not any(_NUMBERED.match(line) for line in lines[first + 1 : end])
            and whole[-1] not in _NO_NUMBERED_END + "."
        )
        if one_line or several:
            yield _Numbered(first, end, whole.rstrip("¶").removesuffix("."), number, empty)


def _in_order(candidates: Iterable[_Numbered]) -> list[_Numbered]:
    """Return the longest chain of candidates with successive numbers; none if at least half of it is empty."""
    chains: list[list[_Numbered]] = []
    for heading in candidates:
        chain = next((chain for chain in reversed(chains) if _follows(chain[-1].number, heading.number)), None)
        if chain is not None:
            chain.append(heading)
        elif set(heading.number) <= {0, 1} and len(heading.number) <= _DEEPEST_START:
            chains.append([heading])
    best = max(chains, key=len, default=[])
    return best if len(best) > 1 and 2 * sum(heading.empty for heading in best) < len(best) else []


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Return whether a number may come next: one deeper, or the next on the same or a higher level."""
    if len(number) == len(last) + 1 and number[:-1] == last:
        return number[-1] in (0, 1)
    at = next((n for n, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(last))
    beside = at < min(len(last), len(number)) and number[at] == last[at] + 1
    return beside and set(number[at + 1 :]) <= {0, 1}


def _in_capitals(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield isolated lines in capitals that have text below."""
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
    text = split_front_matter(raw)
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
    """Return the heading that begins the text, else a short isolated first line that does not end like a sentence."""
    if passages.made and passages.made[0].heading:
        return passages.made[0].path[-1]
    first = next(runs(passages.lines, 0, len(passages.lines)), (0, 0))
    line = passages.lines[first[0]].strip() if first[1] - first[0] == 1 and len(passages.made) > 1 else ""
    named = any(c.isalpha() for c in line) and line[-1] not in ".,;:!?…。" and line[0] not in "-*>|#/<["
    return line if named and len(line) <= _LONGEST_TITLE else ""
