"""The card of one block: content, origin, decay and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.text import Text

from amgs.decay import falls_below, profile_name, relevance_at
from amgs.types import Block, Edge
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut_middle, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import ago, day, half_life, minute, share, short_id
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, wrap

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
            "Select one in any pane; every pane then shows it.",
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
