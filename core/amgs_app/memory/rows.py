"""Show blocks, edges and sources, the changes when sources are read again, and the card of a block: content, origin,
decay and edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from amgs.decay import falls_below, profile_name, relevance_at
from amgs.text.words import plural
from amgs.types import Block, Edge
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut_middle, ink, width_of
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import ago, day, half_life, mark_title, minute, share, short_id
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, notice, wrap
from amgs_app.render.rows import Line, RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.console import RenderableType

    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs_app.results.memory import (
        BlockDetail,
        BlockList,
        CorrectedBlock,
        EdgeAdded,
        EdgeConfirmed,
        SourceHistory,
        SourceList,
        Watched,
    )
    from amgs_app.results.session import SelectedBlock
    from amgs_app.session import Operator


FADED = 0.05
"""Relevance at which a block counts as faded; the card shows the day on which it gets there."""


def block(
    item: Block | None,
    canvas: Canvas,
    *,
    now: datetime,
    edges: Sequence[Edge] = (),
    titles: Mapping[str, str] | None = None,
) -> Text:
    """Draw a block's card: facts, content, and its strongest edges below. titles: of the blocks at the other ends, by
    id.
    """
    if item is None:
        return notice(
            canvas,
            "No block is selected",
            ("block find dome", "inbox list"),
            "Select a block in any pane; every pane then shows it.",
        )
    sheet = Figure(canvas)
    palette = sheet.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    sheet.rule(0, clean(item.title), short_id(item.id) + (" · self ◆" if item.is_self_component else ""), strong=True)
    relevance = relevance_at(item.decay_lambda, item.last_reinforced_at, now)
    fades = falls_below(item.decay_lambda, item.last_reinforced_at, FADED)
    profile = profile_name(item.decay_lambda)
    facts_line(
        sheet,
        1,
        [
            HeaderPart(0, ((_status(item), ink(palette.good if item.status == "consolidated" else palette.warn)),)),
            HeaderPart(1, ((clean(item.category), ink(palette.accent)),)),
            HeaderPart(
                2,
                (
                    ("relevance ", muted),
                    (f"{share(relevance)} ", plain),
                    *gauge_pieces(relevance, 8, sheet.symbols, ink(palette.accent), ink(palette.faint)),
                ),
            ),
            HeaderPart(
                3, ((profile if profile == "pinned" else f"{profile} ½ {half_life(item.decay_lambda)}", muted),)
            ),
            HeaderPart(4, (("confidence ", muted), (share(item.confidence), plain))),
        ],
        x=1,
    )
    pairs = [
        ("created", f"{minute(item.created_at)} ({ago(item.created_at, now)})"),
        ("used", "never" if item.last_reinforced_at <= item.created_at else ago(item.last_reinforced_at, now)),
    ]
    if fades is not None:
        pairs.append((f"below {share(FADED)}", day(fades)))
    facts_line(
        sheet,
        2,
        [HeaderPart(rank, ((f"{name} ", muted), (value, plain))) for rank, (name, value) in enumerate(pairs)],
        x=1,
    )
    source = clean(str(item.meta.get("source", "")))
    y = 3
    if source:
        sheet.put(1, y, cut_middle(source, sheet.width - 2), muted)
        y += 1
    tags = _list_of(item.meta.get("entities")) or _list_of(item.meta.get("tags"))
    if tags and sheet.height >= 14:
        sheet.put(1, y, " · ".join(tags), ink(palette.part_centrality), width=sheet.width - 2)
        y += 1
    below = min(len(edges) + 1, (sheet.height - y) // 2) if edges else 0
    lines = content_lines(item.content, sheet.width - 2, max(0, sheet.height - y - below - 1))
    for row, line in enumerate(lines, start=y + 1):
        sheet.put(1, row, line, plain)
    if below >= 2:
        _edges(sheet.part(0, y + 1 + len(lines), None, below), item, edges, titles or {})
    return sheet.render()


def _list_of(value: object) -> list[str]:
    """Return a list's entries as clean text; empty for anything else."""
    return [clean(str(entry)) for entry in value] if isinstance(value, list | tuple) else []


def _edges(region: Region, item: Block, edges: Sequence[Edge], titles: Mapping[str, str]) -> None:
    """Draw the edges of a block, strongest first."""
    palette = region.palette
    region.rule(0, f"{len(edges)} edges" if len(edges) != 1 else "1 edge")
    ranked = sorted(edges, key=lambda edge: (-edge.weight * edge.confidence, edge.source_id, edge.target_id))
    kind_w = max(width_of(clean(edge.relation_type)) for edge in edges)
    for row, edge in enumerate(ranked[: region.height - 1], start=1):
        outward = edge.source_id == item.id
        far = edge.target_id if outward else edge.source_id
        factors = f"{share(edge.weight)} × {share(edge.confidence)}"
        line: list[Piece] = [
            ("▸ " if outward else "◂ ", ink(palette.muted)),
            (f"{clean(edge.relation_type)} ".ljust(kind_w + 1), ink(palette.relation(edge.relation_type))),
            (titles.get(far, short_id(far)), ink(palette.text)),
        ]
        region.pieces(1, row, line, width=region.width - width_of(factors) - 3)
        region.put(region.width - width_of(factors) - 1, row, factors, ink(palette.muted))


def content_lines(content: str, width: int, limit: int) -> list[str]:
    """Wrap a block's content into at most `limit` lines; paragraphs stay apart."""
    if limit <= 0:
        return []
    return wrap(content.strip(), max(8, width), limit)


def _status(item: Block) -> str:
    """Return the block's status, with "superseded" where a newer block replaces it."""
    return f"{item.status}, superseded" if item.superseded and item.status != "archived" else item.status


MOST_LINES = 2000
"""Most lines of a block's content that its page shows."""
CARD_LINES = 8
"""Lines of a block's card besides its content."""

_BLOCKS = "#:n id:id title* category status conf:score created:at"


def _block_rows(blocks: Sequence[Block]) -> list[tuple[Any, ...]]:
    return [(n, b.id, mark_title(b), b.category, b.status, b.confidence, b.created_at) for n, b in enumerate(blocks, 1)]


@entry()
def block_list(result: BlockList) -> ResultTable:
    if result.text:
        title, nothing = (
            f"{plural(len(result.blocks), 'block')} like {result.text!r}",
            f"No block resembles {result.text!r}.",
        )
    else:
        title, nothing = f"{plural(len(result.blocks), 'block')}, the latest first", "No block is here."
    return sheet(title, _BLOCKS, _block_rows(result.blocks), () if result.blocks else (nothing,))


def _draw_result(operator: Operator, result: BlockDetail, canvas: Canvas) -> Text:
    from amgs_app.render.catalogue import titles_of_edges

    edges = operator.engine.memory.edges(result.block.id)
    titles = titles_of_edges(operator, edges)
    return block(result.block, canvas, now=operator.engine.clock.now(), edges=edges, titles=titles)


def _relevance(result: BlockDetail) -> str:
    return f"“{result.block.title}”: relevance {result.relevance:.2f}"


def _useful(result: BlockDetail) -> str:
    known = result.usefulness
    if known is None:
        return "unknown: no verdict yet"
    return f"{known.mean:.2f}: {known.useful} of {plural(known.verdicts, 'verdict')}, with one of each as the prior"


def _page(result: BlockDetail, canvas: Canvas, now: datetime) -> RenderableType:

    lines = content_lines(result.block.content, canvas.width - 2, MOST_LINES)
    return block(result.block, canvas.with_size(canvas.width, len(lines) + CARD_LINES), now=now)


@entry(figure=_draw_result, sentence=_relevance, page=_page)
def block_detail(result: BlockDetail) -> ResultTable:
    block = result.block
    pairs: list[tuple[str, Any]] = [
        ("id", block.id),
        ("category", block.category),
        ("status", block.status),
        ("confidence", block.confidence),
        ("useful", _useful(result)),
        ("relevance", result.relevance),
        ("decay", f"{result.profile} (λ {block.decay_lambda:g} per hour)"),
        ("created", block.created_at),
        ("last used", block.last_reinforced_at if block.last_reinforced_at > block.created_at else "never"),
        ("self", block.is_self_component),
        ("edges", f"{result.edges_out} out, {result.edges_in} in"),
    ]
    bounds = (("held from", block.valid_from), ("held until", block.valid_to))
    pairs += [(name, at) for name, at in bounds if at is not None]
    pairs += [
        (name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in block.meta.items()
        if name != "title"
    ]
    return facts(mark_title(block), pairs, ("", block.content))


def _describe_selection(result: SelectedBlock) -> str:
    return f"“{result.block.title}” is selected"


@entry(sentence=_describe_selection, quiet=True)
def tabulate_selected_block(result: SelectedBlock) -> ResultTable:
    return sheet("Selected", _BLOCKS, _block_rows((result.block,)))


def _tell_correction(result: CorrectedBlock) -> str:
    block = result.block
    profile = profile_name(block.decay_lambda)
    decay = profile if profile == "pinned" else f"{profile} decay"
    kind = " and ".join(block.categories) or "uncategorised"
    tags = ", ".join(str(tag) for tag in block.meta.get("tags") or ())
    marks = f", tags {tags}" * bool(tags) + f", note “{block.meta.get('note')}”" * bool(block.meta.get("note"))
    return f"“{block.title}” is now {kind}, confidence {block.confidence:.2f}, {decay}{marks}"


@entry(sentence=_tell_correction)
def tabulate_corrected_block(result: CorrectedBlock) -> ResultTable:
    return sheet(_tell_correction(result), _BLOCKS, _block_rows((result.block,)))


def _describe_edge(result: EdgeAdded) -> str:
    return f"“{result.source}” → “{result.target}”: {result.edge.relation_type}"


@entry(sentence=_describe_edge, quiet=True)
def tabulate_added_edge(result: EdgeAdded) -> ResultTable:
    edge = result.edge
    row = (edge.source_id, edge.target_id, edge.relation_type, edge.weight, edge.confidence)
    return sheet(_describe_edge(result), "from:id to:id kind* weight:score conf:score", [row])


def _tell_confirmation(result: EdgeConfirmed) -> str:
    return f"Confirmed “{result.source}” → “{result.target}”: {result.edge.relation_type}"


@entry(sentence=_tell_confirmation, quiet=True)
def tabulate_confirmed_edge(result: EdgeConfirmed) -> ResultTable:
    edge = result.edge
    row = (edge.source_id, edge.target_id, edge.relation_type, edge.weight, edge.confidence)
    return sheet(_tell_confirmation(result), "from:id to:id kind* weight:score conf:score", [row])


_INBOX = FigureOf("inbox list")


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """What happens to a text, or why a file is rejected.

    block_id: "" if no block is concerned. before, after: the old text and its successor.
    """

    what: str
    block_id: str
    title: str
    source: str
    by: str
    because: str
    before: str = ""
    after: str = ""

    @property
    def lines(self) -> list[Line]:
        """Source, reason, and changed lines: removed ones marked −, added ones marked +."""
        told = [(self.title or self.because, self.block_id[:8]), ("source", self.source), ("because", self.because)]
        return told + changes(self.before, self.after)


REVISION: Final = Rows["RevisionRow"](
    "what! id:id- title*! source*? by:id-? because*??",
    lambda row: (row.what, row.block_id, row.title, row.source, row.by or None, row.because),
    lambda row: row.lines,
    key=lambda row: row.block_id or None,
    tones={
        "rejected": "bad",
        "warning": "warn",
        "superseded": "warn",
        "archived": "warn",
        "added": "good",
        "restored": "good",
    },
    empty=("There is nothing to do.",),
    pane="inbox",
)


def _summarise_plan(plan: RevisionPlan) -> str:
    """`2 superseded, 1 archived, 14 unchanged`."""
    from amgs.lifecycle.revision import KINDS

    counts = [f"{plan.count(kind):,} {kind}" for kind in KINDS if plan.count(kind)]
    return ", ".join([*counts, f"{plan.kept:,} unchanged"])


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """Return the changed lines in order: (−, removed) and (+, added)."""
    if not before and not after:
        return []
    old, new = before.splitlines(), after.splitlines()
    lines: list[tuple[str, str]] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += [("−", line) for line in old[a:b] if line.strip()]
            lines += [("+", line) for line in new[c:d] if line.strip()]
    return lines


def _rows(plan: RevisionPlan) -> list[RevisionRow]:
    """Return rejected files and warnings, then a row for each text that changes."""
    rows = [RevisionRow("rejected", "", "", refusal.source, "", refusal.reason) for refusal in plan.refused]
    rows += [RevisionRow("warning", "", "", warning.source, "", warning.reason) for warning in plan.warnings]
    return rows + [
        RevisionRow(
            piece.kind,
            piece.block_id,
            piece.title,
            piece.source,
            piece.by or "",
            piece.because,
            piece.before,
            piece.after,
        )
        for piece in plan.pieces
    ]


@entry(sentence=title_of)
def revision_plan(result: RevisionPlan) -> RowList[RevisionRow]:
    title = f"{result.about}: {_summarise_plan(result)}; nothing has been changed yet"
    note = "" if result.empty else "`ingest --sync` or `source update` carries it out, and `undo` reverts it."
    return REVISION.of(title, _rows(result), (note,))


@entry(sentence=title_of)
def revision(result: Revision) -> RowList[RevisionRow]:
    plan, done = result.plan, result.operation
    if done is None:
        return REVISION.of(f"{plan.about}: nothing to do, {plan.kept:,} unchanged", _rows(plan))
    title = f"{plan.about}: {_summarise_plan(plan)}, as operation {done.id}"
    return REVISION.of(title, _rows(plan), (f"`undo {done.id}` reverts it.",))


@entry(figure=_INBOX)
def source_list(result: SourceList) -> ResultTable:
    rows = [(s.name, s.pieces, s.since, s.place) for s in result.sources]
    hidden = result.total - len(rows)
    notes = (f"{hidden:,} more" if hidden else "",)
    return sheet(plural(result.total, "source"), "source* pieces:n since:at file*?", rows, notes)


@entry()
def source_history(result: SourceHistory) -> ResultTable:
    rows = [
        (piece.position, piece.block_id, title, piece.since, piece.until)
        for piece, title in zip(result.pieces, result.titles, strict=True)
    ]
    return sheet(f"Source {result.source}", "#:n id:id title* since:at until:at", rows)


@entry(figure=_INBOX, sentence=title_of)
def tabulate_watched_folder(result: Watched) -> ResultTable:
    rows = [
        (source_revision.operation.id, source_revision.operation.at, source_revision.operation.summary)
        for source_revision in result.revisions
        if source_revision.operation is not None
    ]
    return sheet(f"{result.folder}: {plural(len(rows), 'revision')}", "operation:n at:at what*", rows)
