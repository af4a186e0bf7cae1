"""Tables for frames: assembled, defined, past, compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs.types import COMPONENTS
from amgs_app.render.catalogue import FigureOf, entry, sentence_of, table_of
from amgs_app.render.format import describe_coverage, describe_layers
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from amgs.frames.compare import CachedFrame, FrameComparison, History
    from amgs.types import Frame, FrameDefinition, SelectionRule, Weights
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import FrameDeletion, FrameList, LastFrame
    from amgs_app.session import Operator


_PLAIN = ("shipped", "yours")
_WEIGHTS = "recency:score centr:score conf:score simil:score reinf:score"


def _weights(weights: Weights | None) -> str:
    return "" if weights is None else " ".join(f"{getattr(weights, name):.2f}" for name in COMPONENTS)


def _selection(rule: SelectionRule) -> list[tuple[str, Any]]:
    wanted = rule.filter
    meta = ", ".join(f"{key}={value}" for key, value in sorted(wanted.meta.items()))
    return [
        ("gathers", f"{rule.gather}, pool {rule.pool}, hops {rule.hops}"),
        ("order with a question", "that of the search" if rule.order == "search" else "by the weights"),
        ("selects", rule.selection + ("" if rule.top_k is None else f", at most {rule.top_k}")),
        ("least score", rule.threshold),
        ("least share of the best match", rule.similarity_share),
        ("statuses", ", ".join(wanted.statuses)),
        ("categories", "all" if wanted.categories is None else ", ".join(wanted.categories)),
        ("leaves out", f"what is {wanted.without} alone" if wanted.without else "nothing"),
        ("only self", "yes" if wanted.self_only else "no"),
        ("metadata", meta),
        ("created since / before", f"{_day(wanted.since)} / {_day(wanted.until)}"),
        ("used since", _day(wanted.reinforced_since)),
        ("window hours", rule.window_hours),
    ]


def _day(instant: datetime | None) -> str:
    return "ever" if instant is None else f"{instant:%Y-%m-%d %H:%M}"


def _frames(result: FrameList) -> str:
    return plural(len(result.definitions), "frame")


@entry(figure=FigureOf("frame last"), sentence=_frames)
def frame_list(result: FrameList) -> ResultTable:
    rows = []
    kinds = {origin.name: origin.kind for origin in result.origins}
    for definition in result.definitions:
        weights = (getattr(definition.weights, name) for name in COMPONENTS)
        children = (
            f" {definition.merge}: ".join(["", ", ".join(c.name for c in definition.children)])
            if definition.children
            else ""
        )
        rows.append(
            (
                definition.name,
                definition.purpose,
                definition.budget,
                *weights,
                children.strip(),
                kinds.get(definition.name, ""),
            )
        )
    notes = [f"{origin.name}: {origin.told}" for origin in result.origins if origin.told not in _PLAIN]
    return sheet("Frames", f"name purpose* budget:n {_WEIGHTS} children origin", rows, notes)


def _draw_result(
    operator: Operator, result: Frame, canvas: Canvas, verdicts: Mapping[str, float] | None = None
) -> Text:
    from amgs_app.frames.figure import frame
    from amgs_app.render.candidates import list_frame
    from amgs_app.render.catalogue import places

    every = list_frame(result, verdicts or {})
    left = every.keep(places(operator, "frame", every.fields))
    return frame(result, canvas, left, left.place_of(operator.selection)).render()


@entry(figure=_draw_result)
def frame(result: Frame) -> ResultTable:
    from amgs_app.render.candidates import list_frame

    asked = f" for {result.query!r}" if result.query else ""
    every = list_frame(result)
    chosen = f"{len(result.selected)} of {len(every.items)} blocks"
    ledger = "; ".join(
        f"{ledger_entry.child} {ledger_entry.used}/{ledger_entry.budget} tokens" for ledger_entry in result.ledger
    )
    notes = (
        f"{ledger}; entropy {result.entropy_bits:.2f} bit" if ledger else "",
        describe_coverage(result.coverage) if result.coverage else "",
        describe_layers(result.layers),
        *result.remarks,
        *((f"\n{result.text.rstrip()}",) if result.text.strip() else ()),
    )
    title = f"{result.name}{asked}: {chosen}, {result.tokens:,} of {result.budget:,} tokens"
    return replace(every.table(), title=title, notes=tuple(filter(None, notes)))


def _draw_last(operator: Operator, result: LastFrame, canvas: Canvas) -> Text:
    from amgs_app.frames.figure import frame

    if result.frame is None:
        return frame(None, canvas).render()
    return _draw_result(operator, result.frame, canvas, result.verdicts)


def _last(result: LastFrame) -> str:
    return "No frame was assembled yet" if result.frame is None else sentence_of(result.frame)


@entry(figure=_draw_last, sentence=_last)
def last_frame(result: LastFrame) -> ResultTable:
    return table_of(result.frame) if result.frame is not None else sheet("No frame yet", "frame", ())


@entry()
def frame_definition(result: FrameDefinition) -> ResultTable:
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


_DELETED: Final = {
    "own": "{} is deleted.",
    "changed": "{} is as it shipped again.",
    "shipped": "Nothing to delete: {} ships with the program and is as it shipped.",
}


def _describe_deletion(result: FrameDeletion) -> str:
    return _DELETED[result.was].format(result.definition.name)


@entry(sentence=_describe_deletion)
def frame_deletion(result: FrameDeletion) -> ResultTable:
    if result.was != "changed":
        return sheet(_describe_deletion(result), "frame", ())
    return replace(table_of(result.definition), title=_describe_deletion(result))


@entry()
def tabulate_cached_frame(result: CachedFrame) -> ResultTable:
    table = table_of(result.frame)
    how = "from the cache" if result.fresh else "assembled again"
    return ResultTable(table.title, table.columns, table.rows, (f"{how}: {result.because}", *table.notes), table.digest)


@entry()
def history(result: History) -> ResultTable:
    rows = [
        (a.id, a.as_of, a.name, a.query, a.blocks, a.tokens, a.budget, a.entropy_bits, _weights(a.weights))
        for a in result.assemblies
    ]
    columns = "id:id at:at frame query* blocks:n tokens:n budget:n bits:score weights"
    return sheet(plural(result.total, "assembly", "assemblies"), columns, rows)


@entry()
def frame_comparison(result: FrameComparison) -> ResultTable:
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
        f"{name}: {side.label}, {plural(side.blocks, 'block')}, {side.tokens:,} of {side.budget:,} tokens, "
        f"{side.entropy_bits:.2f} bits, {side.id}"
        for name, side in (("A", left), ("B", right))
    ]
    title = f"{plural(len(result.shared), 'block')} in both, overlap {result.jaccard:.2f}, {len(rows)} moved"
    columns = (
        "id:id title* A:n B:n score_A:score score_B:score "
        "Δrecency:score Δcentr:score Δconf:score Δsimil:score Δreinf:score why*"
    )
    return sheet(title, columns, rows, notes)
