"""Write the selected blocks of a frame as a single text, quoted, with the source block of every span (AMGS §4.5, step
4).

`Template` holds the four layouts (`template`, `structured`, `summary`, `raw`); `Shortener` cuts a block that
does not fit to a passage. A change of a layout changes golden files and the costs that the selection counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from amgs.retrieval.passage_finder import SENTENCE, PassageFinder
from amgs.types import Assembly, Block, Candidate, PassageSpan, Span
from amgs.types.block import untold

_BREAK: Final = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_BLANK: Final = rf"[^\S{_BREAK}]*"
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees (Default_Ignorable_Code_Point of Unicode), and that may stand within a mark."""

_OWN: Final = re.compile(
    rf"(?<=[{_BREAK}])(?={_BLANK}(?:"
    r"\#\#|\#\d|\[\d{4}-\d\d-\d\d\]|\[\#\d"  # a section, a message; the day of a group, messages left out
    rf"|\((?:[^(){_BREAK}]*,\s*)?[0-9a-f]{{8,}}\s*[,)]"  # a citation
    r"|```|~~~|<[/!?]?[a-z]|<!--"
    rf"|(?:={{2,}}|-{{2,}})[^\S{_BREAK}]*(?=[{_BREAK}]|\Z))"  # what makes a heading of the line above
    rf"|(?![ ]{{4}}|\t){_BLANK}\#\s"  # a title; further in, # is a comment of code
    # Another speaker, after an empty line.
    r"|(?:(?<=\n\n)|(?<=\r\r)|(?<=\n[ \t]\n)|(?<=\n\r\n))"
    rf"{_BLANK}(?:human|user|assistant|system|developer)[ ]?:)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"<(?=\s*/?\s*(?:memory|note|system|function_\w+|tool_(?:result|use|call|response)s?|antml:\w+)\b"
    r"|\|\w+\|>|<?/?SYS>>)",
    re.IGNORECASE,
)
_TURN: Final = re.compile(r"\[(?=/?INST\])")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the order of letters around."""


def quote_text(text: str, *, opens_line: bool = True) -> str:
    """Return a text of a note with "> " before its lines that begin like a heading, a day, a citation, a fence, a tag
    or another speaker, with the tags of quotations, tools and chat templates as `&lt;`, and control characters turned
    visible. To quote it again changes nothing.

    opens_line: whether the text begins a line; its first block is left where it does not.
    """
    before = "\n" if opens_line else ""
    seen = before + text if _UNSEEN.search(text) is None else _quote_unseen(before + text)
    lines = _OWN.sub("> ", seen)[len(before) :]
    shown = _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", lines)
    return _TURN.sub("&#91;", _TAG.sub("&lt;", shown))


def _quote_unseen(text: str) -> str:
    """Return a text quoted where it would be without the characters that nobody sees, which stay."""
    places = [place for place, sign in enumerate(text) if not _UNSEEN.match(sign)]
    signs, seen = [*text], "".join(text[place] for place in places)
    for mark, written in ((_TAG, "&lt;"), (_TURN, "&#91;")):
        for match in mark.finditer(seen):
            signs[places[match.start()]] = written
    for line in _OWN.finditer(seen):
        signs[places[line.start() - 1]] += "> "
    return "".join(signs)


def _quote_line(text: str) -> str:
    """Return a text on a single line, quoted."""
    return quote_text(" ".join(text.split()), opens_line=False)


CountTokens = Callable[[str], int]
"""Counts the tokens of a text as the base model's tokenizer does."""

GroupKey = tuple[str, str]
"""(day, source without its part): the text of a group's heading."""

ID = 8
"""Characters of a block's id in a citation."""

_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""Line ends that JSON does not escape by itself."""
_LONGEST_QUERY = 120
"""Characters of the query in the title."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Piece of a frame's text and the id of the block it comes from; None for the template's own words."""

    text: str
    block_id: str | None = None


Content = Callable[[Candidate], tuple[TextSpan, ...]]
"""Returns what is written of a block in place of its content."""


@dataclass(frozen=True, slots=True)
class FrameSection:
    """Selected blocks of an atomic frame; title: its name in a composite, "" where it is the only frame."""

    title: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Layout of a frame's text: its assembly strategy, and what the title says."""

    assembly: Assembly
    name: str
    query: str
    as_of: datetime

    @property
    def grouped(self) -> bool:
        """Whether blocks of a day and source share a heading, which costs fewer tokens than a full citation each."""
        return self.assembly == "template"

    def opening(self) -> str:
        """Return what comes before the first block."""
        if self.assembly == "raw":
            return ""
        query = " ".join(self.query.split())
        if self.assembly == "structured":
            facts = {"frame": self.name, "query": query, "as_of": self.as_of.isoformat()}
            return json.dumps(facts, ensure_ascii=False)[:-1] + ', "blocks": ['
        short = query if len(query) <= _LONGEST_QUERY else query[: _LONGEST_QUERY - 1].rstrip() + "…"
        name = " ".join(self.name.split())
        named = _quote_line(f"# {name}: {short}" if short else f"# {name}")
        return f"{named}\n" if self.grouped else f"{named}\n\n"

    def closing(self) -> str:
        """Return what comes after the last block."""
        return "\n]}\n" if self.assembly == "structured" else ""

    def heading(self, title: str) -> str:
        """Return the title of a section."""
        if not title or self.assembly not in ("template", "summary"):
            return ""
        return f"\n## {title}\n" if self.grouped else f"## {title}\n\n"

    def group_heading(self, block: Block) -> str:
        """Return the heading of a block's group, a line; "" in layouts without groups."""
        return "\n" + _quote_line(f"[{'] '.join(group_of(block))}") + "\n" if self.grouped else ""

    def block(self, candidate: Candidate, content: Content | None = None) -> tuple[TextSpan, ...]:
        """Return a block as pieces of text: its quoted content, passage or key sentence, and the citation around it.

        content: returns what is written in place of the content; None: the content itself.
        """
        block = candidate.block
        if self.assembly == "structured":
            return _structure_block(candidate)
        if self.assembly == "summary":
            sentence = (TextSpan(key_sentence(block.content, self.query), block.id),)
            return _quote_pieces(
                TextSpan("- "), *(content(candidate) if content else sentence), TextSpan(f" {citation(candidate)}\n")
            )
        if self.assembly == "raw":
            return _quote_pieces(*(content or _content)(candidate), TextSpan(f"\n{citation(candidate)}\n\n"))
        return _quote_pieces(TextSpan(_cite_block(candidate)), *(content or _content)(candidate), TextSpan("\n"))

    def cost(self, candidate: Candidate, count_tokens: CountTokens) -> int:
        """Return the tokens of a block with its citation, without the heading of its group."""
        return count_tokens("".join(piece.text for piece in self.block(candidate)))


@dataclass(frozen=True, slots=True)
class Assembled:
    """Text of a frame, and spans that cover it without gaps or overlaps."""

    text: str
    spans: tuple[Span, ...]


def assemble(
    template: Template, sections: Sequence[FrameSection], count_tokens: CountTokens, content: Content | None = None
) -> Assembled:
    """Write the sections as a single text, "" where they have no block. content: see `Template.block`."""
    filled = [section for section in sections if section.candidates]
    if not filled:
        return Assembled("", ())
    pieces = [TextSpan(template.opening())]
    first = True
    for section in filled:
        pieces.append(TextSpan(template.heading(section.title)))
        for group in groups(section.candidates) if template.grouped else [section.candidates]:
            pieces.append(TextSpan(template.group_heading(group[0].block)))
            for candidate in group:
                if template.assembly == "structured":
                    pieces.append(TextSpan("\n" if first else ",\n"))
                pieces.extend(template.block(candidate, content))
                first = False
    pieces.append(TextSpan(template.closing()))
    return _join_pieces(pieces, count_tokens)


def group_of(block: Block) -> GroupKey:
    """Return the group of a block: its day, and its source without the part (`notes.md` of `notes.md#3`)."""
    source = " ".join(str(block.meta.get("source") or "").split())
    return f"{block.said_at:%Y-%m-%d}", source.partition("#")[0]


def groups(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Return the candidates in groups, in order of first appearance; within a group by time, then by part."""
    members: dict[GroupKey, list[Candidate]] = {}
    for candidate in candidates:
        members.setdefault(group_of(candidate.block), []).append(candidate)
    return [sorted(group, key=_written_order) for group in members.values()]


def _written_order(candidate: Candidate) -> tuple[datetime, int]:
    """Return a sort key: when the block was said, then the number of its part in the source."""
    part = str(candidate.block.meta.get("source") or "").rpartition("#")[2]
    return candidate.block.said_at, int(part) if part.isdecimal() else 0


def key_sentence(content: str, query: str) -> str:
    """Return the sentence that shares most words with the query, else the first; a heading only where there is no
    other.
    """
    sentences = [match.group().strip() for match in SENTENCE.finditer(content)]
    prose = [s for s in sentences if s and not s.startswith("#")] or [s for s in sentences if s]
    if not prose:
        return content
    asked = set(_WORD.findall(query.lower()))
    shared = [len(asked.intersection(_WORD.findall(s.lower()))) for s in prose]
    return prose[shared.index(max(shared))]


def citation(candidate: Candidate) -> str:
    """Return `(notes/dome.md, 3f2a91c0)`: a block's source and the beginning of its id."""
    parts = (_quote_line(candidate.source or ""), candidate.block.id[:ID])
    return f"({', '.join(part for part in parts if part)})"


def _content(candidate: Candidate) -> tuple[TextSpan, ...]:
    """Return a block's content, or its passage with … where text is left out."""
    block, passage = candidate.block, candidate.passage
    if passage is None:
        return (TextSpan(block.content, block.id),)
    return (
        TextSpan("…" if block.content[: passage.start].strip() else ""),
        TextSpan(block.content[passage.start : passage.end], block.id),
        TextSpan("…" if block.content[passage.end :].strip() else ""),
    )


def _cite_block(candidate: Candidate) -> str:
    """Return the citation of a block: the beginning of its id, when it was superseded, and those of its headings that
    its text does not begin with.
    """
    block, passage = candidate.block, candidate.passage
    ended = f", superseded {block.valid_to:%Y-%m-%d}" if block.valid_to is not None else ""
    path = _quote_line(" › ".join(untold(block.content[0 if passage is None else passage.start :], block.meta)))
    return f"({block.id[:ID]}{ended}) {path}{chr(10) if path else ''}"


def _quote_pieces(*pieces: TextSpan) -> tuple[TextSpan, ...]:
    """Return the pieces with the block's own text quoted, so that a model does not read it as instructions."""
    spans: list[TextSpan] = []
    before = "\n"
    for piece in pieces:
        if piece.block_id is not None:
            piece = replace(piece, text=quote_text(piece.text, opens_line=before.endswith("\n")))
        spans.append(piece)
        before = piece.text or before
    return tuple(spans)


def _structure_block(candidate: Candidate) -> tuple[TextSpan, ...]:
    """Return a block as a JSON object, which the layout `structured` writes."""
    block = candidate.block
    facts = {
        "id": block.id,
        "source": candidate.source,
        "frame": candidate.child,
        "category": block.category,
        "created_at": block.created_at.isoformat(),
        "score": round(candidate.score, 4),
    }
    if "said_at" in block.meta:
        facts["said_at"] = block.said_at.isoformat()
    if block.valid_to is not None:
        facts["valid_to"] = block.valid_to.isoformat()
    before = json.dumps(facts, ensure_ascii=False)[:-1]
    return (
        TextSpan(f'{before}, "content": '),
        TextSpan(json.dumps(candidate.excerpt, ensure_ascii=False).translate(_BREAKS), block.id),
        TextSpan("}"),
    )


def _join_pieces(pieces: Iterable[TextSpan], count_tokens: CountTokens) -> Assembled:
    """Join the pieces; adjacent pieces of the template become a single span, empty pieces none."""
    merged: list[TextSpan] = []
    for piece in pieces:
        if not piece.text:
            continue
        if merged and piece.block_id is None and merged[-1].block_id is None:
            merged[-1] = TextSpan(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    spans = []
    start = 0
    for piece in merged:
        end = start + len(piece.text)
        spans.append(Span(start, end, piece.block_id, count_tokens(piece.text)))
        start = end
    return Assembled("".join(piece.text for piece in merged), tuple(spans))


LONGEST_WHOLE = 512
"""Tokens up to which a block is not cut where it fits: docs/results/frames.md."""
LEAST_LIMIT, MOST_LIMIT, SHARE = 160, 256, 8
"""A passage has at most a third of the remaining tokens, limited to LEAST_LIMIT … MOST_LIMIT, or 1/SHARE of them where
that is more.
"""

_LEAST = 32
"""Tokens below which a passage is not worth its citation."""
_TRIES = 4
"""Attempts at a passage of the right length, whose tokens are known only once it is written."""


class Shortener:
    """Cuts candidates of an assembly to passages; remembers each cut, as the selection asks repeatedly."""

    def __init__(self, template: Template, finder: PassageFinder, count_tokens: CountTokens) -> None:
        self._template, self._finder, self._count_tokens = template, finder, count_tokens
        self._cuts: dict[tuple[str, int], Candidate] = {}
        self._around: dict[tuple[str, str], int] = {}

    def __call__(self, candidate: Candidate, left: int, uncut: bool) -> Candidate:
        """Return the candidate cut to a passage where it is too long or does not fit into `left` tokens; else
        unchanged.

        uncut: leave a short block whole even if it does not fit, so that a later candidate may fit instead.
        """
        most = max(LEAST_LIMIT, min(left // 3, MOST_LIMIT), left // SHARE)
        short = candidate.tokens <= max(LONGEST_WHOLE, left // SHARE)
        if self._template.assembly == "summary" or (short and (uncut or candidate.tokens <= left)):
            return candidate
        if left < _LEAST:  # no passage worth writing fits
            return candidate
        around = self._cost_around(candidate)
        room = min(most + around, left)
        if candidate.tokens <= room or room - around < _LEAST:
            return candidate
        key = (candidate.block.id, room)
        if key not in self._cuts:
            self._cuts[key] = self._cut(candidate, room, around)
        excerpt = self._cuts[key]
        if excerpt.passage is None:
            return candidate
        cut = f"cut to {excerpt.tokens} of {candidate.tokens} tokens"
        because = f"{candidate.because}; {cut}" if candidate.because else cut
        return replace(candidate, passage=excerpt.passage, tokens=excerpt.tokens, because=because)

    def _cost_around(self, candidate: Candidate) -> int:
        """Return the tokens of a block's citation."""
        key = (candidate.block.id, candidate.child)
        if key not in self._around:
            empty = replace(candidate, passage=PassageSpan(0, 0))
            self._around[key] = self._template.cost(empty, self._count_tokens)
        return self._around[key]

    def _cut(self, candidate: Candidate, room: int, around: int) -> Candidate:
        """Return the candidate with the longest passage, in a few tries, that costs at most `room` tokens; unchanged
        where none does. around: tokens of its citation.
        """
        size = int(len(candidate.block.content) * (room - around) / max(candidate.tokens - around, 1))
        for _ in range(_TRIES):
            if size < 1:
                break
            cut = replace(candidate, passage=self._finder.passage(candidate.block.content, size))
            cut = replace(cut, tokens=self._template.cost(cut, self._count_tokens))
            if cut.tokens <= room:
                return cut
            size = int(0.95 * size * (room - around) / max(cut.tokens - around, 1))
        return candidate
