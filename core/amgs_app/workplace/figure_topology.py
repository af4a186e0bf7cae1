"""Describe and draw the namespaces of a database that holds the store."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.text.plural import plural
from amgs.types import HealthLine, StoreStatus
from amgs.types.topology import NamespaceSize, StoreTopology
from amgs_app.render.canvas import Region, clean, ink
from amgs_app.render.format import count, short_count

_MOST_NAMESPACES = 8
_WIDE = 100


def topology_lines(status: StoreStatus, namespaces: Sequence[NamespaceSize]) -> tuple[HealthLine, ...]:
    """Return a line about the namespace; empty for a store in a file."""
    topology = status.topology
    if topology is None:
        return ()
    return (HealthLine("namespace", "well", _namespace(topology.namespace, namespaces), "status"),)


def _namespace(own: NamespaceSize, namespaces: Sequence[NamespaceSize]) -> str:
    """Return a namespace's position, blocks and size, in words."""
    place = f", one of {len(namespaces):,}" if len(namespaces) > 1 else ""
    parts = [f"{clean(own.name)}{place}", plural(own.blocks or 0, "block"), format_size(own.bytes)]
    parts += [] if own.changes is None else [f"change {count(own.changes)}"]
    if len(namespaces) > 1:
        parts.append(f"all {format_size(sum(namespace.bytes for namespace in namespaces))}")
    return " · ".join(parts)


def format_size(size: int) -> str:
    """Format bytes in decimal units: `3.4 GB`."""
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} B"


def detail_height(status: StoreStatus, namespaces: Sequence[NamespaceSize], most: int) -> int:
    """Return the lines that `draw_detail` needs, at most `most`; 0 if there is only one namespace."""
    rows = len(namespaces) if status.topology is not None and len(namespaces) > 1 else 0
    return min(rows, _MOST_NAMESPACES, most - 1) + 1 if rows and most > 1 else 0


def draw_detail(region: Region, status: StoreStatus, namespaces: Sequence[NamespaceSize]) -> None:
    """Draw the namespaces, the open one first, then the largest."""
    if status.topology is not None and len(namespaces) > 1:
        _namespaces(region, status.topology, namespaces)


def _namespaces(region: Region, topology: StoreTopology, namespaces: Sequence[NamespaceSize]) -> None:
    palette = region.palette
    own = topology.namespace
    others = sorted((namespace for namespace in namespaces if namespace.name != own.name), key=lambda n: -n.bytes)
    every = [own, *others]
    shown = every[: region.height - 1]
    left = len(every) - len(shown)
    region.rule(0, "namespaces", f"{left:,} more" if left else "≈ as last estimated")
    for row, namespace in enumerate(shown, start=1):
        mine = namespace.name == own.name
        text = ink(palette.text, bold=mine)
        name_w = max(8, region.width - 36)
        region.put(1, row, clean(namespace.name), text, width=name_w)
        blocks = (
            "not known" if namespace.blocks is None else f"{'' if mine else '≈'}{short_count(namespace.blocks)} blocks"
        )
        x = name_w + 2
        region.put(x, row, blocks, text, width=14, align="right")
        region.put(x + 15, row, format_size(namespace.bytes), text, width=9, align="right")
        if namespace.changes is not None:
            region.put(x + 25, row, f"#{count(namespace.changes)}", ink(palette.muted), width=region.width - x - 25)
