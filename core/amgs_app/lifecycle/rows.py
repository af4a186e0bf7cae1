"""Tables for ingestion and consolidation: the inbox, plans and drafts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.decay import profile_name
from amgs.text.words import plural
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import age, format_ingest, half_life, minute, short_id
from amgs_app.render.rows import Line, RowList, Rows, join
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from amgs.lifecycle.plan_editing import ItemEdit, PlanDraft
    from amgs.lifecycle.upkeep import Due
    from amgs.types import Block, ConsolidationItem, ConsolidationPlan, IngestReport
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import Consolidated, Inbox, Untouched
    from amgs_app.session import Operator


_NO_NOTE = "no reader for it"
_MOST_NAMED = 5


def _list_names(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _source_of(block: Block) -> str:
    return str(block.meta.get("source", ""))


def _more_of(block: Block) -> str | None:
    """Return the content after the line that is the title; None if there is nothing more."""
    first, _, rest = block.content.strip().partition("\n")
    repeats = first.lstrip("#>*- ").strip().startswith(block.title.rstrip("…").strip())
    return " ".join((rest if repeats else block.content).split()) or None


def _origin(block: Block) -> list[Line]:
    """Return lines with a block's date and source."""
    lines = [("written", minute(block.created_at)), ("source", _source_of(block))]
    return [line for line in lines if line[1]]


INBOX: Final = Rows["Block"](
    "id:id- created:age title*! source*? content. words:n. more*+~??",
    lambda block: (
        block.id,
        block.created_at,
        block.title,
        _source_of(block),
        block.content,
        len(block.content.split()),
        _more_of(block),
    ),
    lambda block: [(block.title, short_id(block.id)), *_origin(block), ("", block.content)],
    key=lambda block: block.id,
    empty=(
        "Notes arrive here raw. Consolidation gives them a category, entities and edges; until then they are found by"
        " words only.",
        "ingest --batch DIR",
        "ingest “a thought to keep”",
    ),
    pane="inbox",
)


def list_inbox(result: Inbox) -> RowList[Block]:
    """List the raw blocks of an inbox page."""
    hidden = result.total - len(result.blocks)
    oldest = (
        f"oldest {age(result.oldest, result.now)}; found by words only until consolidated"
        if result.oldest and result.blocks
        else ""
    )
    notes = (f"{hidden:,} more: `inbox list --limit`" if hidden else "", oldest)
    title = f"Inbox: {plural(result.total, 'raw block')}"
    return INBOX.of(title, result.blocks, notes, total=result.total, before=result.offset, now=result.now)


def _draw_inbox(operator: Operator, result: Inbox, canvas: Canvas) -> Text:
    listed = list_inbox(result)  # it was filtered where it was read
    return listed.draw(canvas, listed.place_of(operator.selection)).render()


@entry(figure=_draw_inbox)
def inbox(result: Inbox) -> RowList[Block]:
    return list_inbox(result)


@entry(figure=FigureOf("inbox list"))
def ingest_report(result: IngestReport) -> ResultTable:
    rows = [("replaced", old[:12], "no longer holds; `search --as-of` finds it") for old in result.replaced]
    rows += [
        (
            "may replace",
            f"{replacement.block_id[:12]} {replacement.title}",
            f"{replacement.because}; `--replaces {replacement.block_id[:12]}` with the same text says so",
        )
        for replacement in result.may_replace
    ]
    rows += [("rejected", refusal.source, refusal.reason) for refusal in result.refused]
    rows += [("warning", warning.source, warning.reason) for warning in result.warnings]
    rows += [
        ("skipped", f"{group.files:,} {group.ending or 'without an ending'}", f"{_NO_NOTE}: {_list_names(group.names)}")
        for group in result.skipped
    ]
    return sheet(format_ingest(result), "what source because*", rows)


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A block of a draft: as proposed, as corrected, and the corrections. left_out: ids of blocks left out. names:
    titles of other blocks.
    """

    proposed: ConsolidationItem
    item: ConsolidationItem
    edit: ItemEdit
    left_out: frozenset[str]
    names: Mapping[str, str]

    @property
    def corrected(self) -> str:
        """The corrections, as text; "" for none."""
        edit, proposed = self.edit, self.proposed
        remarks = (
            "left out" if edit.left_out else "",
            f"was {proposed.category}" if edit.category else "",
            f"was {proposed.confidence:.2f}" if edit.confidence is not None else "",
            f"{plural(len(edit.dropped), 'edge')} dropped" if edit.dropped else "",
            f"{plural(len(edit.sure), 'edge')} corrected" if edit.sure else "",
        )
        return ", ".join(filter(None, remarks))

    @property
    def state(self) -> str:
        """State of the draft row, in a word."""
        return "out" if self.edit.left_out else "edited" if self.corrected else "proposed"

    @property
    def lines(self) -> list[Line]:
        """Lines on everything that consolidation would make of the block."""
        from amgs.lifecycle.plan_editing import far_end

        item, proposed, sure = self.item, self.proposed, dict(self.edit.sure)
        lasts = profile_name(item.decay_lambda)
        told = [
            (item.block.title, short_id(item.block.id)),
            ("✗ stays", "in the inbox: left out") if self.edit.left_out else ("", ""),
            ("category", f"{item.category} {item.category_confidence:.2f}: {item.category_because}"),
            ("corrected", self.corrected),
            ("forgets", lasts if lasts == "pinned" else f"{lasts} ½ {half_life(item.decay_lambda)}"),
            ("entities", " · ".join(item.entities)),
        ]
        for number, edge in enumerate(proposed.edges, 1):
            far = far_end(proposed, edge)
            way = "▸" if edge.source_id == proposed.block.id else "◂"
            gone = (
                "✗ dropped: " if edge.key in self.edit.dropped else "✗ with its block: " if far in self.left_out else ""
            )
            weight = f"{edge.weight:.2f} × {sure.get(edge.key, edge.confidence):.2f}"
            told.append(
                (f"{number}", f"{gone}{edge.relation_type} {way} {self.names.get(far, short_id(far))}  {weight}")
            )
        return [told[0], *(line for line in told[1:] if line[1]), *_origin(item.block), ("", item.block.content)]


DRAFT: Final = Rows["DraftRow"](
    "id:id- title*! category! sure:score= belief:score? decay??- self~?? edges:n? entities*?- corrected*~ content."
    " source. state. words:n. created:age.",
    lambda row: (
        row.item.block.id,
        row.item.block.title,
        "in the inbox" if row.edit.left_out else row.item.category,
        row.item.category_confidence,
        row.item.confidence,
        profile_name(row.item.decay_lambda),
        row.item.is_self_component or None,
        0 if row.edit.left_out else len(row.item.edges),
        " ".join(row.item.entities),
        row.corrected or None,
        row.item.block.content,
        _source_of(row.item.block),
        row.state,
        len(row.item.block.content.split()),
        row.item.block.created_at,
    ),
    lambda row: row.lines,
    key=lambda row: row.item.block.id,
    tones={"in the inbox": "warn"},
    empty=("No raw blocks waiting. What you ingest next appears here with a proposal.", "ingest --batch DIR"),
    pane="inbox",
)
LISTING: Final = join(INBOX, DRAFT)
_WAY_ON: Final = (
    "`consolidate` applies it; in the shell, a script or the screen `consolidate --draft` applies it as corrected."
)


def list_draft(
    draft: PlanDraft, now: datetime | None = None, titles: Mapping[str, str] | None = None
) -> RowList[DraftRow]:
    """List what consolidation would make of each raw block, with corrections applied. titles: of blocks outside the
    draft.
    """
    plan, out = draft.plan, draft.left_out
    items = {item.block.id: item for item in plan.items}
    names = {item.block.id: item.block.title for item in draft.proposed.items} | dict(titles or {})
    edits = {edit.block_id: edit for edit in draft.edits}
    rows = [
        DraftRow(
            proposal,
            items.get(proposal.block.id, proposal),
            edits.get(proposal.block.id) or draft.edit_of(proposal.block.id),
            out,
            names,
        )
        for proposal in draft.proposed.items
    ]
    edges = sum(len(item.edges) for item in plan.items)
    counts = f"{plural(len(items), 'block')}, {plural(edges, 'edge')}"
    kinds = Counter(item.category for item in plan.items).most_common()
    title = f"Plan: {counts}; nothing has been changed yet"
    if draft.edits:
        title = f"Draft: {counts}, {len(draft.edits):,} corrected; nothing has been changed yet"
    corrected = tuple(row for row in rows if row.corrected) or None
    notes = (", ".join(f"{count:,} {kind}" for kind, count in kinds), _WAY_ON if rows else "")
    return DRAFT.of(title, rows, notes, now=now, digest=corrected)


def _draw_draft(operator: Operator, draft: PlanDraft, canvas: Canvas) -> Text:
    from amgs_app.render.catalogue import draw_list, titles_of_edges

    titles = titles_of_edges(operator, (edge for item in draft.plan.items for edge in item.edges))
    return draw_list(operator, list_draft(draft, operator.engine.clock.now(), titles), canvas)


def _draw_plan(operator: Operator, result: ConsolidationPlan, canvas: Canvas) -> Text:
    from amgs.lifecycle.plan_editing import PlanDraft

    return _draw_draft(operator, PlanDraft(result), canvas)


@entry(figure=_draw_plan)
def consolidation_plan(result: ConsolidationPlan) -> RowList[DraftRow]:
    from amgs.lifecycle.plan_editing import PlanDraft

    return list_draft(PlanDraft(result))


@entry(figure=_draw_draft)
def plan_draft(result: PlanDraft) -> RowList[DraftRow]:
    return list_draft(result)


def _draw_consolidation(operator: Operator, result: Consolidated, canvas: Canvas) -> Text:
    return _draw_plan(operator, result.plan, canvas)


@entry(figure=_draw_consolidation)
def tabulate_consolidation(result: Consolidated) -> ResultTable:
    rows = sorted(result.categories.items(), key=lambda pair: (-pair[1], pair[0]))
    blocks, edges = (sum(done.blocks for done in result.operations), sum(d.edges for d in result.operations))
    ids = [str(done.id) for done in result.operations]
    title = f"Consolidated {plural(blocks, 'block')} and {plural(edges, 'edge')} as operation {', '.join(ids)}"
    back = " and ".join(f"`undo {i}`" for i in reversed(ids))
    meanwhile = f"{plural(result.elsewhere, 'block')} more: consolidated meanwhile by somebody else."
    notes = (f"{back} reverts it." if rows else "", meanwhile if result.elsewhere else "")
    return sheet(title, "category* blocks:n", rows, notes)


@entry(sentence=title_of)
def due(result: Due) -> ResultTable:
    return _due(result)


def _due(result: Due) -> ResultTable:
    pairs = [
        ("because", result.because),
        ("waiting", result.waiting),
        ("last consolidation", result.last),
        ("due by time at", result.next_at),
    ]
    return facts("Consolidation is due" if result.due else "Consolidation is not due", pairs)


@entry(figure=FigureOf("inbox list"), sentence=title_of)
def tabulate_untouched(result: Untouched) -> ResultTable:
    if result.due.because == "the inbox is empty":
        return sheet("There is nothing to consolidate: the inbox is empty", "what value*", ())
    return _due(result.due)
