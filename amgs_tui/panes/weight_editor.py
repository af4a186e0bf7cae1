"""Weights that an operator moves: one part up or down, the others give way in proportion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types import Weights

STEP = 0.05


@dataclass(frozen=True, slots=True)
class WeightEditor:
    """The weights being moved, which started as `first`, and the part that the keys move."""

    first: Weights
    now: Weights
    part: int = 3

    @property
    def changed(self) -> bool:
        return self.now != self.first

    def fits(self, weights: Weights) -> bool:
        """Whether a frame was ranked by what stands here now."""
        return written(weights) == self.text()

    def walked(self, by: int) -> WeightEditor:
        """Another part under the keys."""
        return replace(self, part=(self.part + by) % len(_names()))

    def moved(self, by: int) -> WeightEditor:
        """The part one step up or down; the sum stays 1."""
        return replace(self, now=shifted(self.now, self.part, by * STEP))

    def said(self) -> str:
        """The five weights in one line, the part under the keys in brackets."""
        words = []
        for place, name in enumerate(_names()):
            text = f"{name[:7]} {getattr(self.now, name):.2f}"
            words.append(f"[{text}]" if place == self.part else text)
        return "  ".join(words)

    def text(self) -> str:
        """The weights as `--weights` takes them."""
        return written(self.now)


def shifted(weights: Weights, part: int, by: float) -> Weights:
    """`weights` with one part moved by `by` (kept within 0 and 1) and the others scaled to the rest."""
    from amgs.types import Weights

    values = [getattr(weights, name) for name in _names()]
    wanted = min(1.0, max(0.0, round(values[part] + by, 6)))
    rest = sum(values) - values[part]
    others = len(values) - 1
    made = [
        wanted if place == part else (1 - wanted) * (min(value / rest, 1.0) if rest > 1e-9 else 1 / others)
        for place, value in enumerate(values)
    ]
    return Weights(*made)


def written(weights: Weights) -> str:
    """Weights as a line's option has them; the last takes what rounding left, so that the sum is 1."""
    values = [round(getattr(weights, name), 4) for name in _names()]
    most = max(range(len(values)), key=values.__getitem__)
    values[most] = round(1 - sum(value for place, value in enumerate(values) if place != most), 4)
    return ",".join(f"{value:g}" for value in values)


def _names() -> tuple[str, ...]:
    from amgs.types import COMPONENTS

    return tuple(COMPONENTS)
