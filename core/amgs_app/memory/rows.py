"""How blocks, edges and sources are shown, and the changes when sources are read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from amgs.decay import profile_name
from amgs.text.plural import plural
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import mark_title
from amgs_app.render.rows import Line, RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs.types import Block
    from amgs_app.render.canvas import Canvas
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
    from amgs_app.session.operator import Operator


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


def _drawn(operator: Operator, result: BlockDetail, canvas: Canvas) -> Text:
    from amgs_app.render.block_card import block
    from amgs_app.render.drawing import titles_of_edges

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
    from amgs_app.render.block_card import block, content_lines

    lines = content_lines(result.block.content, canvas.width - 2, MOST_LINES)
    return block(result.block, canvas.sized(canvas.width, len(lines) + CARD_LINES), now=now)


@entry(figure=_drawn, sentence=_relevance, page=_page)
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
