"""The passage of a hit as lines of text, with the words of the query marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len

from amgs_app.terminal.output import printable

if TYPE_CHECKING:
    from amgs.types import Candidate, PassageSpan

Run = tuple[str, bool]
"""A run of text, and whether it is a word of the query."""


def runs_of(item: Candidate) -> tuple[Run, ...]:
    """Return a candidate's passage as a single line, with … where the content continues."""
    if item.passage is None:
        return _on_one_line([(item.excerpt, False)])
    return runs_within(item.block.content, item.passage)


def runs_within(content: str, passage: PassageSpan) -> tuple[Run, ...]:
    """Return a passage of a content as a single line, with … where the content continues."""
    runs: list[Run] = [("…" if content[: passage.start].strip() else "", False)]
    at = passage.start
    for start, end in passage.matches:
        runs += [(content[at:start], False), (content[start:end], True)]
        at = end
    rest = "…" if content[passage.end :].strip() else ""
    return _on_one_line([*runs, (content[at : passage.end].rstrip() + rest, False)])


def join_text(runs: Sequence[Run], *, marks: bool) -> str:
    """Return the runs as text. marks: put «» around the words of the query."""
    return "".join(f"«{text}»" if marks and asked else text for text, asked in runs)


def in_lines(runs: Sequence[Run], width: int, most: int) -> list[list[Run]]:
    """Break runs into at most `most` lines of `width` cells, starting where the most words of the query are visible."""
    words = _words(runs)
    first = _first_word(words, width * most)
    lines: list[list[Run]] = [[]]
    used = 0
    left = list(words[first:])
    if first:
        left.insert(0, [("…", False)])
    for place, word in enumerate(left):
        size = sum(cell_len(text) for text, _ in word)
        if used and used + 1 + size > width:
            if len(lines) == most:
                return _add_ellipsis(lines, width)
            lines.append([])
            used = 0
        gap = bool(used) and not (first and place == 1)
        lines[-1] += [(" ", False), *word] if gap else word
        used += size + gap
    return [_join_runs(line) for line in lines if line]


def _add_ellipsis(lines: list[list[Run]], width: int) -> list[list[Run]]:
    """End the last line with …, dropping runs until it fits."""
    used = sum(cell_len(text) for text, _ in lines[-1])
    while used >= width and lines[-1]:
        used -= cell_len(lines[-1].pop()[0])
    return [_join_runs([*line, ("…", False)] if line is lines[-1] else line) for line in lines]


def _first_word(words: Sequence[Sequence[Run]], room: int) -> int:
    """Return the index of the word to begin with: 0, or shortly before the place with the most visible query words."""
    sizes = [1 + sum(cell_len(text) for text, _ in word) for word in words]
    marked = [place for place, word in enumerate(words) if any(asked for _, asked in word)]
    if not marked or sum(sizes) <= room:
        return 0

    def in_view(begin: int) -> int:
        used = seen = 0
        for place in range(begin, len(words)):
            used += sizes[place]
            if used > room:
                break
            seen += place in shown
        return seen

    shown = set(marked)
    begins = [0, *(max(0, place - 3) for place in marked)]
    return max(begins, key=lambda begin: (in_view(begin), -begin))


def _words(runs: Sequence[Run]) -> list[list[Run]]:
    """Split runs at blanks into words, each of several runs."""
    words: list[list[Run]] = [[]]
    for text, asked in runs:
        for place, part in enumerate(text.split(" ")):
            if place:
                words.append([])
            if part:
                words[-1].append((part, asked))
    return [word for word in words if word]


def _on_one_line(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Collapse white space within and between runs, and escape control characters."""
    flat: list[Run] = []
    blank = True
    for text, asked in runs:
        words = " ".join(text.split())
        begins = bool(text[:1].isspace()) and not blank
        ends = bool(words) and text[-1:].isspace()
        if words or begins:
            flat.append((f"{' ' if begins else ''}{printable(words)}{' ' if ends else ''}", asked))
            blank = ends or (begins and not words)
    if flat:
        flat[-1] = (flat[-1][0].rstrip(), flat[-1][1])
    return tuple(_join_runs(flat))


def _join_runs(runs: Sequence[Run]) -> list[Run]:
    """Join neighbouring runs that are marked alike."""
    return [
        ("".join(text for text, _ in some), asked)
        for asked, some in groupby((run for run in runs if run[0]), key=lambda run: run[1])
    ]
