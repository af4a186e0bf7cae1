"""Read Markdown: CommonMark with tables, by markdown-it-py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from amgs.ingest.document import ParsedDocument, Passage, Utterance
from amgs.ingest.readers.line_ranges import PassageList, split_front_matter
from amgs.text import markdown
from amgs.text.markdown import plain, without_plumbing

DIALOGUE = "dialogue"
_WHOLE = frozenset({"fence", "code_block", "table_open"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_ALT = re.compile(r"<img\b[^>]*\balt=[\"']([^\"'>]*)[^>]*>", re.IGNORECASE)
_HIDDEN = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_DECORATION = re.compile(
    r"<[^<>]*>|\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])\]?(?:\([^)]*\))?|[-*_\s]+|\[[^\]]*\]\([^)]*\)"
)


def read(raw: bytes) -> ParsedDocument:
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
        title=text.title or _title(body, passages),
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
            title = plain(tokens[1].content) if len(tokens) > 1 else ""
            if title:
                passages.heading(first, end, int(token.tag[1]), title)
            else:
                passages.add(first, end)
        elif token.type == "html_block" and (match := _HTML_HEADING.search(token.content)):
            title = plain(" ".join(_HIDDEN.sub(" ", _ALT.sub(r" \1 ", match[2])).split()))
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
    return passages.made


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
    if first < end and without_plumbing("\n".join(passages.lines[first:end])).strip():
        passages.paragraphs(first, end)


def _title(body: str, passages: Sequence[Passage]) -> str:
    """Return the only heading of the highest level; if there are several, the first, if it begins the text; else ""."""
    highest = min((p.level for p in passages if p.level), default=0)
    top = [p for p in passages if highest and p.level == highest]
    if not top:
        return ""
    before = without_plumbing(body[: top[0].start])
    return top[0].path[-1] if len(top) == 1 or not _DECORATION.sub("", before).strip() else ""
