"""The tables of what has been assembled: caches, history, comparisons, replays, definitions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from amgs.frames import results
from amgs.types import COMPONENTS, FrameDefinition, SelectionRule, Weights
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.render.tables.memory import table_of


def _weights(weights: Weights | None) -> str:
    return "" if weights is None else " ".join(f"{getattr(weights, name):.2f}" for name in COMPONENTS)


@table_of.register
def _(result: FrameDefinition) -> ResultTable:
    pairs: list[tuple[str, Any]] = [
        ("purpose", result.purpose),
        ("weights", _weights(result.weights)),
        ("budget", result.budget),
        ("assembly", result.assembly),
        ("fresh for hours", result.refresh_hours),
        ("equal from cosine", result.semantic_threshold),
    ]
    if result.is_composite:
        pairs += [
            ("children", ", ".join(f"{c.name} {c.share:.0%}" for c in result.children)),
            ("merge / budget", f"{result.merge} / {result.budget_strategy}"),
            ("scored again with", _weights(result.rescore)),
        ]
    else:
        pairs += _selection(result.rule)
    return facts(result.name, pairs)


def _selection(rule: SelectionRule) -> list[tuple[str, Any]]:
    wanted = rule.filter
    meta = ", ".join(f"{key}={value}" for key, value in sorted(wanted.meta.items()))
    return [
        ("gathers", f"{rule.gather}, pool {rule.pool}, hops {rule.hops}"),
        ("selects", rule.selection + ("" if rule.top_k is None else f", at most {rule.top_k}")),
        ("least score", rule.threshold),
        ("least share of the best match", rule.similarity_share),
        ("statuses", ", ".join(wanted.statuses)),
        ("categories", "all" if wanted.categories is None else ", ".join(wanted.categories)),
        ("only self", "yes" if wanted.self_only else "no"),
        ("metadata", meta),
        ("made since / before", f"{_day(wanted.since)} / {_day(wanted.until)}"),
        ("used since", _day(wanted.reinforced_since)),
        ("window hours", rule.window_hours),
    ]


def _day(instant: datetime | None) -> str:
    return "ever" if instant is None else f"{instant:%Y-%m-%d %H:%M}"


@table_of.register
def _(result: results.CachedFrame) -> ResultTable:
    made = table_of(result.frame)
    how = "from the cache" if result.fresh else "assembled again"
    return ResultTable(
        made.title, made.columns, made.rows, (f"{how}: {result.because}", *made.notes), made.digest
    )


@table_of.register
def _(result: results.History) -> ResultTable:
    rows = [
        (a.id, a.as_of, a.name, a.query, a.blocks, a.tokens, a.budget, a.entropy_bits, _weights(a.weights))
        for a in result.assemblies
    ]
    columns = "id:id at:at frame query* blocks:n tokens:n budget:n bits:score weights"
    return sheet(f"{result.total:,} assemblies", columns, rows)


@table_of.register
def _(result: results.Replay) -> ResultTable:
    past = result.assembly
    title = f"{past.name} {past.id} of {past.as_of:%Y-%m-%d %H:%M}: " + (
        "equal" if result.equal else "not equal"
    )
    rows = [(n, c.block.id, c.block.title, c.score) for n, c in enumerate(result.frame.selected, 1)]
    notes = [*result.because]
    notes += [f"only then: {i[:12]}" for i in result.gone]
    notes += [f"only now: {i[:12]}" for i in result.come]
    return sheet(title, "#:n id:id title* score:score", rows, notes)


@table_of.register
def _(result: results.FrameComparison) -> ResultTable:
    left, right = result.left, result.right
    rows = [
        (
            m.block.id,
            m.block.title,
            m.left_rank,
            m.right_rank,
            m.left_score,
            m.right_score,
            *((None,) * len(COMPONENTS) if m.parts is None else (getattr(m.parts, n) for n in COMPONENTS)),
            m.because,
        )
        for m in result.moved
    ]
    notes = [
        f"{name}: {side.label}, {side.blocks} blocks, {side.tokens:,} of {side.budget:,} tokens, "
        f"{side.entropy_bits:.2f} bits, {side.id}"
        for name, side in (("A", left), ("B", right))
    ]
    title = f"{len(result.shared)} blocks in both, overlap {result.jaccard:.2f}, {len(rows)} moved"
    columns = (
        "id:id title* A:n B:n score_A:score score_B:score "
        "Δrecency:score Δcentr:score Δconf:score Δsimil:score Δreinf:score why*"
    )
    return sheet(title, columns, rows, notes)
