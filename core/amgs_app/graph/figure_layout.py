"""Place the blocks of a neighbourhood: rings around the centre, with labels that never overlap.

The order on a ring follows from the ids, so that a block keeps its side when others come or go; outer blocks stand in
the direction of their parent. The same input always gives the same layout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amgs_app.render.canvas import cut, width_of


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A block to place. ring: hops from the centre. parent: its neighbour a hop closer. label: width in cells."""

    id: str
    ring: int
    parent: str
    label: int


@dataclass(frozen=True, slots=True)
class Spot:
    """Position of a node's dot, and the cells [start, end) of its label on that line."""

    x: int
    y: int
    start: int
    end: int


def place(
    nodes: Sequence[PlacedNode], width: int, height: int, center_label: int
) -> tuple[dict[str, Spot], tuple[float, float]]:
    """Return positions of the nodes that fit (most important first), and the centre. The centre's label stays free."""
    cx, cy = width // 2, height // 2
    rings = max((node.ring for node in nodes), default=1)
    taken = _Taken(width, height)
    half = center_label // 2 + 2
    for row in (cy - 1, cy, cy + 1) if height >= 12 else (cy,):
        taken.mark(row, cx - half, cx - half + center_label + 4)
    angles = _angles(nodes)
    spots: dict[str, Spot] = {}
    for node in nodes:
        spot = _find(node, angles[node.id], rings, width, height, taken)
        if spot is not None:
            spots[node.id] = spot
            taken.mark(spot.y, spot.start - 1, spot.end + 1)
    return spots, (float(cx), float(cy))


def _turn(identity: str) -> float:
    """Return a position on the circle that depends only on the id, in [0, 1)."""
    try:
        return int(identity[:8], 16) / 16**8
    except ValueError:
        return sum(map(ord, identity)) % 997 / 997


def _angles(nodes: Sequence[PlacedNode]) -> dict[str, float]:
    """Return positions on the circle, in turns: ring 1 evenly spread in the order of ids, outer rings around their
    parents.
    """
    angles: dict[str, float] = {}
    first = sorted((node for node in nodes if node.ring == 1), key=lambda node: (_turn(node.id), node.id))
    for position, node in enumerate(first):
        even = (position + 0.5) / len(first)
        angles[node.id] = 0.8 * even + 0.2 * _turn(node.id) if len(first) > 2 else even
    slot = 1 / max(len(first), 1)
    by_parent: dict[str, list[PlacedNode]] = {}
    for node in sorted(nodes, key=lambda node: (node.ring, _turn(node.id), node.id)):
        if node.ring > 1:
            by_parent.setdefault(node.parent, []).append(node)
    for parent, children in by_parent.items():
        middle = angles.get(parent, _turn(parent))
        spread = slot * 0.9 if children[0].ring == 2 else slot * 0.4
        for position, node in enumerate(children):
            angles[node.id] = middle + spread * ((position + 0.5) / len(children) - 0.5)
    return angles


def _find(node: PlacedNode, turn: float, rings: int, width: int, height: int, taken: _Taken) -> Spot | None:
    """Return the free position nearest to the wanted position: along its ring first, then slightly in or out; None if
    there is none.
    """
    cx, cy = width / 2, height / 2
    label = min(node.label, max(3, width // 3))
    outer_x, outer_y = max(4.0, cx - label - 2), max(1.0, cy - 0.6)
    # The first ring of several keeps room for its labels inside the next.
    share = {1: {1: 1.0}, 2: {1: 0.5, 2: 1.0}, 3: {1: 0.36, 2: 0.68, 3: 1.0}}[min(rings, 3)][min(node.ring, 3)]
    angle = 2 * math.pi * turn - math.pi / 2
    want_x, want_y = cx + outer_x * share * math.cos(angle), cy + outer_y * share * math.sin(angle)
    right = math.cos(angle) >= 0
    best: tuple[float, Spot] | None = None
    for scale in (1.0, 0.86, 1.12, 0.72, 1.25, 1.4):
        rx, ry = outer_x * share * scale, outer_y * max(share * scale, 0.35)
        for row in range(height):
            lift = (row + 0.5 - cy) / ry
            if abs(lift) > 1.08:
                continue
            reach = rx * math.sqrt(max(0.0, 1 - min(1.0, abs(lift)) ** 2))
            for side in (1, -1):
                x = round(cx + side * max(reach, 1.0))
                spot = _spot(x, row, side, label, width)
                if spot is None or not taken.free(row, spot.start - 1, spot.end + 1):
                    continue
                away = (
                    abs(x - want_x) / 2
                    + abs(row + 0.5 - want_y)
                    + (0 if (side > 0) == right else 3)
                    + abs(scale - 1) * 6
                )
                if best is None or away < best[0] - 1e-9:
                    best = (away, spot)
        if best is not None and best[0] < 2.5:
            break
    return best[1] if best is not None else None


def _spot(x: int, y: int, side: int, label: int, width: int) -> Spot | None:
    """Return the dot at x with its label on the outer side, moved inwards until it fits; None if it cannot."""
    if side > 0:
        x = min(x, width - label - 2)
        return Spot(x, y, x, x + label + 2) if x >= 0 else None
    x = max(x, label + 1)
    return Spot(x, y, x - label - 1, x + 1) if x < width else None


class _Taken:
    """Cells that labels occupy."""

    def __init__(self, width: int, height: int) -> None:
        self.rows = [bytearray(width + 2) for _ in range(height)]
        self.width, self.height = width, height

    def mark(self, row: int, start: int, end: int) -> None:
        """Mark cells [start, end) of a row as occupied."""
        if 0 <= row < self.height:
            for x in range(max(0, start), min(self.width, end)):
                self.rows[row][x] = 1

    def free(self, row: int, start: int, end: int) -> bool:
        """Return whether cells [start, end) of a row are free."""
        return 0 <= row < self.height and not any(self.rows[row][max(0, start) : min(self.width, end)])


def parents(distances: Mapping[str, int], links: Sequence[tuple[str, str, float]]) -> dict[str, str]:
    """Return for each block its neighbour a hop closer with the strongest link (the smaller id on a tie)."""
    best: dict[str, tuple[float, str]] = {}
    for a, b, strength in links:
        for near, far in ((a, b), (b, a)):
            if near in distances and far in distances and distances[far] == distances[near] + 1:
                rank = (-strength, near)
                if far not in best or rank < best[far]:
                    best[far] = rank
    return {far: near for far, (_, near) in best.items()}


CRUMB = " › "
"""Separator of headings in the title of a section."""


def short_labels(titles: Mapping[str, str], room: int) -> dict[str, str]:
    """Shorten titles to at most `room` cells, keeping them distinguishable.

    A title that fits stays. Of a section's title the innermost headings stay. Words that several shortened titles share
    at the beginning are left out. Equal titles stay equal.
    """
    labels = {key: _of_section(title, room) for key, title in titles.items()}
    alike: dict[str, list[str]] = {}
    for key, label in labels.items():
        alike.setdefault(label, []).append(key)
    for keys in alike.values():
        words = {key: _innermost(titles[key]).split() for key in keys}
        if len({*map(tuple, words.values())}) > 1:
            for key in keys:
                shared = max(_count_shared_words(words[key], words[other]) for other in keys if other != key)
                rest = " ".join(words[key][min(shared, len(words[key]) - 1) :])
                labels[key] = cut(f"…{rest}" if shared else rest, room)
    return labels


def _of_section(title: str, room: int) -> str:
    """Return the title if it fits, else as many of its innermost headings as fit, at least one."""
    if width_of(title) <= room:
        return title
    parts = title.split(CRUMB)
    for first in range(1, len(parts)):
        label = "…" + CRUMB.join(parts[first:])
        if width_of(label) <= room:
            return label
    return cut(parts[-1] if len(parts) == 1 else f"…{parts[-1]}", room)


def _innermost(title: str) -> str:
    return title.split(CRUMB)[-1]


def _count_shared_words(words: list[str], other: list[str]) -> int:
    """Count the words with which both titles begin."""
    pairs = enumerate(zip(words, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(words), len(other)))
