"""Futures drawn by chance: what would become of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.simulation.draws import Spread
    from amgs.simulation.enhance import EnhancementForecast
    from amgs.simulation.evolve import Evolution
    from amgs.simulation.insert import Insertion
    from amgs.simulation.prune import PruningFutures
    from amgs.simulation.stability import Stability


_WAYS = {3: "all four", 2: "faded + 2", 1: "faded + 1", 0: "faded"}


def _spread(value: Spread | None, digits: int = 2) -> str:
    return (
        "–" if value is None else f"{value.mean:.{digits}f} ({value.low:.{digits}f}–{value.high:.{digits}f})"
    )


def _count(value: Spread) -> str:
    return f"{value.mean:,.0f} ({value.low:,.0f}–{value.high:,.0f})"


@entry()
def enhancement_forecast(result: EnhancementForecast) -> ResultTable:
    one, two = result.without, result.with_change
    rows: list[tuple[str, Any, Any]] = [
        ("edges", one.edges, two.edges),
        ("mean strength", _spread(one.strength, 3), _spread(two.strength, 3)),
        ("total strength", _spread(one.total_strength), _spread(two.total_strength)),
        ("components", _count(one.components), _count(two.components)),
        ("top 20 that stay", _spread(one.top_stays), _spread(two.top_stays)),
    ]
    moved = [
        f"{m.title}: centrality {m.before:.3f} → {m.after:.3f} ({m.likely:.0%} of draws)"
        for m in result.moved
    ]
    title = f"After {result.days:g} days, {result.draws} draws, seed {result.seed} (mean, 5 to 95 %)"
    shift = f"Mean shift of centrality {_spread(result.shift, 4)}"
    return sheet(title, "what without* with*", rows, (shift, *moved))


@entry()
def pruning_futures(result: PruningFutures) -> ResultTable:
    asked = result.recall_now is not None
    rows = [
        (
            "*" if way.best else "",
            _WAYS[way.others],
            way.threshold,
            _count(way.pruned),
            _count(way.missed),
            _spread(way.kept),
            _count(way.edges),
            *((_spread(way.recall),) if asked else ()),
        )
        for way in result.ways
    ]
    title = (
        f"Pruning every {result.cycle:g} days for {result.days:g}, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [
        f"{plural(result.blocks, 'block')}, {result.rate:g} accesses a day: {_count(result.accesses)}",
        "way: which of the four signs must be low; *: no other strategy prunes more and misses less",
    ]
    if asked:
        notes.append(f"recall@10 of {result.questions} questions before any pruning: {result.recall_now:.3f}")
    columns = "best way relevance:score pruned missed kept edges" + (" recall" if asked else "")
    return sheet(title, columns, rows, notes)


@entry()
def evolution(result: Evolution) -> ResultTable:
    rows = [
        (
            round(at.day, 2),
            _count(at.blocks),
            _spread(at.relevance),
            _count(at.edges),
            _count(at.components),
            _count(at.accesses),
        )
        for at in result.checkpoints
    ]
    title = (
        f"{result.days:g} days at {result.rate:g} accesses a day, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [
        f"{result.sure:,} blocks certainly stay above {result.threshold:g}, {result.lost:,} certainly drop below it",
        f"Of today's 20 most central blocks stay {_spread(result.top_stays)}",
        *(f"open: {each.title} ({each.block_id[:12]}) stays in {each.survives:.0%}" for each in result.open),
    ]
    return sheet(title, "day:score blocks relevance edges components accesses", rows, notes)


@entry()
def insertion(result: Insertion) -> ResultTable:
    rows = [
        (
            each.other_id,
            each.title,
            f"{each.relation} {'→' if each.outgoing else '←'}",
            each.holds,
            _spread(each.strength),
            each.reach,
            each.worth,
        )
        for each in result.links
    ]
    title = f"{result.title}: after {result.days:g} days, {result.draws} draws, seed {result.seed}"
    notes = [
        f"{'Already stored' if result.known else 'Would be added'} as {result.category}; "
        f"{_count(result.holding)} of its {len(rows)} links hold; it stands alone in {result.alone:.0%}",
        f"Centrality with all of them {_spread(result.centrality)}",
    ]
    return sheet(title, "id:id block* relation holds:score strength reach:n worth:score", rows, notes)


@entry()
def stability(result: Stability) -> ResultTable:
    rows = [
        (
            "today" if not each.days else f"{each.days:g} days × {each.pace:g}",
            _spread(each.rank),
            _spread(each.top_stays),
            _spread(each.edges),
            _count(each.components),
            _spread(each.largest),
        )
        for each in result.scenarios
    ]
    title = (
        f"Noise {result.noise:g}, {result.loss:.0%} of edges lost, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [f"{result.components_now:,} components today, without noise"]
    for each in result.least:
        told = ", ".join(f"{share:.0%}" for share in each.stays)
        notes.append(f"{each.title} ({each.block_id[:12]}) stays among the 20 most central in {told}")
    return sheet(title, "when rank_corr top_20 edges components largest", rows, notes)
