"""Read notes: Markdown (CommonMark with tables, by markdown-it-py), and text without markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from amgs.ingest.document import ParsedDocument, Passage, Utterance
from amgs.ingest.readers.line_ranges import PassageList, runs, split_front_matter
from amgs.text import markdown
from amgs.text.markdown import clean_heading, remove_plumbing

DIALOGUE = "dialogue"
_WHOLE = frozenset({"fence", "code_block", "table_open"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_ALT = re.compile(r"<img\b[^>]*\balt=[\"']([^\"'>]*)[^>]*>", re.IGNORECASE)
_HIDDEN = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_DECORATION = re.compile(
    r"<[^<>]*>|\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])\]?(?:\([^)]*\))?|[-*_\s]+|\[[^\]]*\]\([^)]*\)"
)


def read_markdown(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    return document(raw)


def document(raw: bytes | str) -> ParsedDocument:
    """Return Markdown as a document; a note with `kind: dialogue` in its front matter as turns."""
    text = split_front_matter(raw)
    front, body = text.front, text.body
    if front.get("kind") == DIALOGUE:
        turns = tuple(Utterance(turn.speaker, turn.text) for turn in markdown.turns(body))
        if turns:
            title = text.title or markdown.title(body)
            return ParsedDocument(
                body, turns=turns, title=title, front=front, warnings=text.warnings, first_line=text.first_line
            )
    passages = tuple(_passages(body))
    return ParsedDocument(
        body,
        passages,
        title=text.title or _find_markdown_title(body, passages),
        front=front,
        warnings=text.warnings,
        first_line=text.first_line,
        form="markdown",
    )


@cache
def _parser() -> MarkdownIt:
    """Return a parser of blocks only; inline markup does not matter here."""
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _passages(body: str) -> Sequence[Passage]:
    passages = PassageList(body)
    done = 0
    for first, end, token, tokens in _blocks(_parser().parse(body)):
        _add_unparsed(passages, done, first)
        done = end
        if token.type == "heading_open":
            title = clean_heading(tokens[1].content) if len(tokens) > 1 else ""
            if title:
                passages.heading(first, end, int(token.tag[1]), title)
            else:
                passages.add(first, end)
        elif token.type == "html_block" and (match := _HTML_HEADING.search(token.content)):
            title = clean_heading(" ".join(_HIDDEN.sub(" ", _ALT.sub(r" \1 ", match[2])).split()))
            before, _, after = (_HIDDEN.sub(" ", part).strip() for part in token.content.partition(match[0]))
            if title and not before:
                passages.heading(first, end, int(match[1]), title, alone=not after)
            else:
                passages.add(first, end)
        elif token.type in _LISTS:
            for item_first, item_end in _items(token, tokens):
                passages.add(item_first, item_end)
        else:
            passages.add(first, end, whole=token.type in _WHOLE)
    _add_unparsed(passages, done, len(passages.lines))
    return passages.items


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[int, int, Token, Sequence[Token]]]:
    """Yield the outermost blocks: first line, line after the last, opening token, and all tokens."""
    at = 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        if token.nesting == 1:
            while tokens[end].level > token.level or tokens[end].nesting != -1:
                end += 1
            end += 1
        if token.map is not None:
            yield token.map[0], token.map[1], token, tokens[at:end]
        at = end


def _items(token: Token, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the line range of each item of a list."""
    starts = [t.map[0] for t in tokens if t.type == "list_item_open" and t.level == token.level + 1 and t.map]
    end = token.map[1] if token.map else 0
    yield from zip(starts, [*starts[1:], end], strict=True)


def _add_unparsed(passages: PassageList, first: int, end: int) -> None:
    """Add text between blocks, such as a footnote, but not link definitions."""
    if first < end and remove_plumbing("\n".join(passages.lines[first:end])).strip():
        passages.paragraphs(first, end)


def _find_markdown_title(body: str, passages: Sequence[Passage]) -> str:
    """Return the only heading of the highest level; if there are several, the first, if it begins the text; else ""."""
    highest = min((p.level for p in passages if p.level), default=0)
    top = [p for p in passages if highest and p.level == highest]
    if not top:
        return ""
    before = remove_plumbing(body[: top[0].start])
    return top[0].path[-1] if len(top) == 1 or not _DECORATION.sub("", before).strip() else ""


LONGEST = 80
"""Most characters of a heading on a single line."""

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
"""Most words of a numbered heading that ends with a full stop; a longer line is a sentence."""
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

    Not headings are: list items without text below, lines that end like a sentence, numbers out of sequence.
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


def read_plain(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = split_front_matter(raw)
    passages = PassageList(text.body)
    done = 0
    for heading in headings(passages.lines):
        passages.paragraphs(done, heading.first)
        passages.heading(heading.first, heading.end, heading.level, heading.title)
        done = heading.end
    passages.paragraphs(done, len(passages.lines))
    title = text.title or _find_plain_title(passages)
    return ParsedDocument(
        text.body,
        tuple(passages.items),
        title=title,
        front=text.front,
        warnings=text.warnings,
        first_line=text.first_line,
    )


_LONGEST_TITLE = 80


def _find_plain_title(passages: PassageList) -> str:
    """Return the heading that begins the text, else a short isolated first line that does not end like a sentence."""
    if passages.items and passages.items[0].heading:
        return passages.items[0].path[-1]
    first = next(runs(passages.lines, 0, len(passages.lines)), (0, 0))
    line = passages.lines[first[0]].strip() if first[1] - first[0] == 1 and len(passages.items) > 1 else ""
    named = any(c.isalpha() for c in line) and line[-1] not in ".,;:!?…。" and line[0] not in "-*>|#/<["
    return line if named and len(line) <= _LONGEST_TITLE else ""
