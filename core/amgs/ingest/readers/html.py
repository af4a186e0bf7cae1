"""HTML as text: headings, paragraphs, lists, tables and code, without scripts, styles and navigation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Any

from amgs.ingest.document import Outline, ParsedDocument, Passage, UnfitError, decoded, unified

_HIDDEN = frozenset({"script", "style", "template", "svg", "nav", "noscript", "head", "select", "button"})
_VOID = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta source track wbr"))
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
        "footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table tbody tfoot "
        "thead tr ul",
    )
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_DATES = frozenset({"date", "article:published_time", "dc.date", "dcterms.created", "datepublished"})
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([\w-]+)", re.IGNORECASE)
_ANCHORS = re.compile(r"[¶#§]$")
_COMMENT_END = re.compile(r"--!?\s*>")


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    try:
        text, warning = _declared(raw) or decoded(raw)
    except LookupError:
        text, warning = decoded(raw)
    made = document(text)
    return made if not warning else _with(made, warning)


def _with(made: ParsedDocument, warning: str) -> ParsedDocument:
    return replace(made, warnings=(warning, *made.warnings))


def _declared(raw: bytes) -> tuple[str, str] | None:
    """The text by the encoding that the page declares, where that is not UTF-8."""
    match = _CHARSET.search(raw[:4096])
    name = match[1].decode("ascii").lower() if match else "utf-8"
    if name.replace("-", "") in ("utf8", "utf16"):
        return None
    # What pages call Latin-1 is windows-1252 in every browser.
    return unified(raw.decode("cp1252" if name in ("iso-8859-1", "latin1") else name, "replace")), ""


def document(text: str) -> ParsedDocument:
    """A page as a document. Raises UnfitError for one without any text."""
    # A page that breaks off within a tag: what is no tag is text, and is not looked for an end again at every `<`.
    whole = text.rfind(">") + 1
    parser = _PageParser(text)
    parser.feed(text[:whole] + text[whole:].replace("<", "&lt;"))
    parser.close()
    parser.end_block()
    if not parser.blocks:
        raise UnfitError("it is empty")
    outline = Outline()
    joined: list[str] = []
    passages: list[Passage] = []
    at = 0
    before: _TextBlock | None = None
    for block in parser.blocks:
        if before is not None:
            gap = "\n" if block.item and before.item else "\n\n"
            joined.append(gap)
            at += len(gap)
        path = outline.enter(block.level, block.text) if block.level else outline.path
        end = at + len(block.text)
        passages.append(
            Passage(
                at,
                end,
                path,
                block.level,
                bool(block.level),
                block.whole,
                block.line,
                max(block.line, block.last),
                links=block.links,
            )
        )
        joined.append(block.text)
        at, before = end, block
    headings = [b for b in parser.blocks if b.level]
    best = min((b.level for b in headings), default=0)
    top = [b.text for b in headings if b.level == best]
    title = top[0] if len(top) == 1 else parser.title
    meta: dict[str, Any] = {"author": parser.author} if parser.author else {}
    return ParsedDocument("".join(joined), tuple(passages), title=title, date=parser.date or None, meta=meta)


@dataclass(frozen=True, slots=True)
class _TextBlock:
    text: str
    level: int
    whole: bool
    item: bool
    line: int
    last: int
    links: tuple[str, ...] = ()


class _PageParser(HTMLParser):
    """Gathers the blocks of a page in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._last_comment = max((found.start() for found in _COMMENT_END.finditer(page)), default=-1)
        self.blocks: list[_TextBlock] = []
        self.title = self.author = self.date = ""
        self._hidden, self._depth = "", 0
        self._words: list[str] = []
        self._links: list[str] = []
        self._line = 0
        self._level = self._pre = self._table = 0
        self._item = False
        self._title = False
        self._rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "title" and not self.title:
            self._title = True
        elif tag == "meta":
            self._said(given)
        if tag in _HIDDEN and not self._hidden:
            self._hidden = tag
        if self._hidden:
            self._depth += tag == self._hidden
            # A page may leave <head> open; its body ends it.
            if tag == "body" and self._hidden == "head":
                self._hidden, self._depth = "", 0
            return
        if tag == "a" and given.get("href"):
            self._links.append(given["href"])
        if tag == "table":
            if not self._table:
                self.end_block()
                self._line, self._rows = self.getpos()[0], []
            self._table += 1
        elif self._table:
            if tag == "tr":
                self._cell()
                self._rows.append([])
            elif tag in ("td", "th"):
                self._cell()
            elif tag == "img":
                self._words.append(given.get("alt", ""))
            elif tag in _BLOCKS or tag == "br":
                self._words.append(" ")
        elif tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._words.append(given.get("alt", ""))
        elif tag in _BLOCKS:
            self.end_block()
            self._level = _HEADINGS.get(tag, 0)
            self._item = tag == "li" or (self._item and tag != "p" and tag not in _HEADINGS)
            self._pre += tag == "pre"

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Where a comment ends; one that never does is not looked for to the end of the page, each time."""
        return -1 if i > self._last_comment else super().parse_comment(i, report)

    def parse_html_declaration(self, i: int) -> int:
        """Where a declaration ends: at the next `>`, as in browsers. The standard library raises for some."""
        return self.parse_bogus_comment(i)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._title = False
        if self._hidden:
            self._depth -= tag == self._hidden
            if not self._depth:
                self._hidden = ""
            return
        if tag == "table" and self._table:
            self._table -= 1
            if not self._table:
                self._end_table()
        elif self._table:
            if tag in _BLOCKS:
                self._words.append(" ")
        elif tag in _BLOCKS:
            self.end_block()
            if tag in ("li", "ul", "ol"):
                self._item = False
            if tag == "pre" and self._pre:
                self._pre -= 1

    def handle_data(self, data: str) -> None:
        if self._title:
            self.title = " ".join(f"{self.title} {data}".split())
        if self._hidden:
            return
        if not self._line and data.strip():
            self._line = self.getpos()[0] + len(data) - len(data.lstrip("\n"))
        self._words.append(data if self._pre else re.sub(r"\s+", " ", data))

    def end_block(self) -> None:
        """What was read since the last block is one."""
        if self._table:
            self._end_table()
        raw = "".join(self._words)
        if self._pre:
            text = raw.strip("\n").rstrip()
        else:
            text = "\n".join(" ".join(line.split()) for line in raw.split("\n")).strip()
        if self._level:
            text = _ANCHORS.sub("", " ".join(text.split())).strip()
        if text.strip():
            shown = f"- {text}" if self._item and not self._pre else text
            self.blocks.append(
                _TextBlock(
                    shown,
                    self._level,
                    bool(self._pre),
                    self._item,
                    self._line,
                    self.getpos()[0],
                    tuple(self._links),
                )
            )
            self._item = False
        self._words, self._links, self._level, self._line = [], [], 0, 0

    def _cell(self) -> None:
        text = " ".join("".join(self._words).split())
        self._words = []
        if text:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append(text)

    def _end_table(self) -> None:
        self._cell()
        self._table = 0
        text = "\n".join(" | ".join(row) for row in self._rows if row)
        if text:
            self.blocks.append(
                _TextBlock(text, 0, True, False, self._line, self.getpos()[0], tuple(self._links))
            )
        self._rows, self._links, self._line = [], [], 0

    def _said(self, given: dict[str, str]) -> None:
        name = (given.get("name") or given.get("property") or given.get("itemprop") or "").lower()
        if name in _DATES and not self.date:
            self.date = given.get("content", "")
        elif name == "author" and not self.author:
            self.author = given.get("content", "")
