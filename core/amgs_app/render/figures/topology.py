"""What a store consists of beside one file: its namespace among others, its search index, its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from amgs.text.plural import plural
from amgs.types import Health, HealthLine, StoreStatus
from amgs.types.health import Standing
from amgs.types.tasks import Task
from amgs.types.topology import IndexLag, NamespaceSize, StoreTopology
from amgs_app.render.figures.canvas import Region, clean, ink
from amgs_app.render.figures.format import ago, count, short_count, span

SIDES = frozenset({"namespace", "index", "workers"})
"""What stands here and need not stand among the lines of health."""
_MOST_NAMESPACES = 8
_WIDE = 100


def topology_lines(
    status: StoreStatus, namespaces: Sequence[NamespaceSize], health: Health | None
) -> tuple[HealthLine, ...]:
    """A line each for the namespace, the index and the workers, as far as there are any; the standing of the last two
    is that of their health.
    """
    found = status.topology
    if found is None:
        return ()
    standing = {line.side: line for line in health.lines} if health is not None else {}
    told = (
        ("namespace", "" if found.namespace is None else _namespace(found.namespace, namespaces)),
        ("index", "" if found.index is None else _index(found.index, status.now)),
        ("workers", _workers(found, status.now)),
    )
    return tuple(_line(side, words, standing, found) for side, words in told if words)


def _line(side: str, told: str, health: Mapping[str, HealthLine], found: StoreTopology) -> HealthLine:
    verbs = {"namespace": "namespace show", "index": "index status", "workers": "workers list"}
    known = health.get(side)
    if known is not None:
        return HealthLine(side, known.standing, told, known.verb)
    standing: Standing = "well"
    if side == "index" and found.index is not None and not found.index.version:
        standing = "act"
    elif side == "workers" and (found.failed or (found.waiting and not found.workers)):
        standing = "watch"
    return HealthLine(side, standing, told, verbs[side])


def _namespace(own: NamespaceSize, namespaces: Sequence[NamespaceSize]) -> str:
    place = f", one of {len(namespaces):,}" if len(namespaces) > 1 else ""
    parts = [f"{clean(own.name)}{place}", plural(own.blocks or 0, "block"), size_told(own.bytes)]
    parts += [] if own.changes is None else [f"change {count(own.changes)}"]
    if len(namespaces) > 1:
        parts.append(f"all {size_told(sum(each.bytes for each in namespaces))}")
    return " · ".join(parts)


def _index(index: IndexLag, now: datetime) -> str:
    if index.fault:
        return clean(index.fault)
    if not index.version:
        return "not built"
    behind = f"{plural(index.changes, 'change')} behind" if index.changes else "up to date"
    built = "" if index.built is None else f", built {ago(index.built, now)}"
    counters = f"{count(index.built_at)} of {count(index.store_at)}"
    return f"{behind}{built} · at {counters} · version {count(index.version)} · {plural(index.rows, 'block')}"


def _workers(found: StoreTopology, now: datetime) -> str:
    if not (found.workers or found.waiting or found.running or found.failed):
        return ""
    parts = [plural(len(found.workers), "worker") if found.workers else "no worker"]
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.waiting:,} waiting"] if found.waiting else []
    parts += [f"{found.running:,} running"] if found.running else []
    parts += [claim_told(found.claimed[0], now)] if found.claimed else []
    return " · ".join(parts)


def claim_told(task: Task, now: datetime) -> str:
    """Which worker has a task, and for how long yet."""
    left = "" if task.not_before is None else f", lease {span((task.not_before - now).total_seconds())}"
    return f"{task.kind} {task.number}: {clean(task.worker)}{left}"


def size_told(size: int) -> str:
    """Bytes in decimal units: `3.4 GB`."""
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} B"


def detail_height(status: StoreStatus, namespaces: Sequence[NamespaceSize], most: int) -> int:
    """Rows of `draw_detail`, its rule included; 0 where there is nothing to tell beyond the lines."""
    found = status.topology
    if found is None:
        return 0
    rows = max(len(namespaces) if len(namespaces) > 1 else 0, len(found.workers) + len(found.claimed))
    return min(rows, _MOST_NAMESPACES, most - 1) + 1 if rows and most > 1 else 0


def draw_detail(region: Region, status: StoreStatus, namespaces: Sequence[NamespaceSize]) -> None:
    """The namespaces, the open one first and then the largest; beside them the workers and what they have claimed."""
    found = status.topology
    if found is None:
        return
    some = len(namespaces) > 1
    half = region.width // 2 - 1 if some and (found.workers or found.claimed) else region.width
    if some:
        _namespaces(region.part(0, 0, half), found, namespaces)
    if found.workers or found.claimed:
        _claims(region.part(half + 2 if some else 0, 0), found, status.now)


def _namespaces(region: Region, found: StoreTopology, namespaces: Sequence[NamespaceSize]) -> None:
    palette = region.palette
    own = found.namespace
    others = sorted(
        (each for each in namespaces if own is None or each.name != own.name), key=lambda n: -n.bytes
    )
    every = [*([own] if own is not None else []), *others]
    shown = every[: region.height - 1]
    left = len(every) - len(shown)
    region.rule(0, "namespaces", f"{left:,} more" if left else "≈ as last estimated")
    for row, each in enumerate(shown, start=1):
        mine = own is not None and each.name == own.name
        text = ink(palette.text, bold=mine)
        name_w = max(8, region.width - 36)
        region.put(1, row, clean(each.name), text, width=name_w)
        blocks = (
            "not known" if each.blocks is None else f"{'' if mine else '≈'}{short_count(each.blocks)} blocks"
        )
        x = name_w + 2
        region.put(x, row, blocks, text, width=14, align="right")
        region.put(x + 15, row, size_told(each.bytes), text, width=9, align="right")
        if each.changes is not None:
            region.put(
                x + 25, row, f"#{count(each.changes)}", ink(palette.muted), width=region.width - x - 25
            )


def _claims(region: Region, found: StoreTopology, now: datetime) -> None:
    palette = region.palette
    region.rule(0, "workers", plural(found.running, "task") + " running" if found.running else "")
    row = 1
    for each in found.workers:
        told = f"{', '.join(each.kinds)} · {each.done:,} done"
        failed = f" · {each.failed:,} failed" if each.failed else ""
        x = region.put(1, row, clean(each.name), ink(palette.text)) + 1
        x = region.put(x, row, told, ink(palette.muted), width=region.width - x)
        region.put(x, row, failed, ink(palette.warn), width=region.width - x)
        row += 1
    for task in found.claimed:
        region.put(1, row, claim_told(task, now), ink(palette.text), width=region.width - 1)
        row += 1
