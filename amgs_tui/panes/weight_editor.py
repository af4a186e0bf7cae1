"""Values from 0 to 1 that keys change by a step: single ones, and weights, which always sum to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations
from amgs_app.calls.marks import hold_weights
from amgs_tui.keys import hide, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs.types import Frame, Weights
    from amgs_tui.panes.base import Pane

STEP: Final = 0.05
WEIGHING: Final[list[Any]] = [
    show("right", "part(1)", "weights", "frame.part", "Choose the weight that + and − move", key_display="←→"),
    hide("left", "part(-1)", "weights", "frame.part_before", "The previous weight"),
    hide("plus,equals_sign", "weigh(1)", "raise weight", "frame.heavier", "Raise this weight and rank again"),
    hide("minus", "weigh(-1)", "lower weight", "frame.lighter", "Lower this weight and rank again"),
    hide("0", "unweigh", "reset", "frame.unweigh", "Reset the weights to the frame's own"),
    show("a", "compare", "a/b", "frame.compare", "Compare the frame's own weights with yours: what moved, and why"),
]


def step_value(value: float, by: int) -> float:
    """Return the next multiple of a step above (by > 0) or below a value, within [0, 1]."""
    steps = value / STEP
    steps = math.floor(steps + 1e-6) + 1 if by > 0 else math.ceil(steps - 1e-6) - 1
    return min(1.0, max(0.0, round(steps * STEP, 2)))


@dataclass(frozen=True, slots=True)
class WeightEditor:
    """The weights being edited. first: as they were; part: index of the one that keys change."""

    first: Weights
    now: Weights
    part: int = 3

    @property
    def changed(self) -> bool:
        return self.now != self.first

    def fits(self, weights: Weights) -> bool:
        """Return whether a frame was ranked by the present weights."""
        return write_weights(weights) == self.text()

    def walk(self, by: int) -> WeightEditor:
        """Return the editor with another part chosen."""
        return replace(self, part=(self.part + by) % len(_names()))

    def move(self, by: int) -> WeightEditor:
        """Return the editor with the part a step up or down; the sum stays 1."""
        return replace(self, now=shift_weights(self.now, self.part, by * STEP))

    def describe(self) -> str:
        """Return the five weights on one line, the chosen one in brackets."""
        words = []
        for place, name in enumerate(_names()):
            text = f"{name[:7]} {getattr(self.now, name):.2f}"
            words.append(f"[{text}]" if place == self.part else text)
        return "  ".join(words)

    def text(self) -> str:
        """Return the weights as `--weights` expects them."""
        return write_weights(self.now)


def shift_weights(weights: Weights, part: int, by: float) -> Weights:
    """Return `weights` with one part changed by `by` (kept within 0 and 1) and the others scaled to the rest."""
    name = _names()[part]
    return hold_weights(weights, {name: min(1.0, max(0.0, round(getattr(weights, name) + by, 6)))})


def write_weights(weights: Weights) -> str:
    """Return the weights as a command's option; the greatest absorbs the rounding, so that the sum is 1."""
    values = [round(getattr(weights, name), 4) for name in _names()]
    greatest = max(range(len(values)), key=values.__getitem__)
    values[greatest] = round(1 - sum(value for place, value in enumerate(values) if place != greatest), 4)
    return ",".join(f"{value:g}" for value in values)


def _names() -> tuple[str, ...]:
    from amgs.types import COMPONENTS

    return tuple(COMPONENTS)


@dataclass(eq=False)
class FrameWeighing:
    """The keys of a pane that set the weights of the frame on view. weights: None for its own."""

    pane: Pane
    frame: Callable[[], Frame | None]
    weights: WeightEditor | None = None

    def __str__(self) -> str:
        """Return the text of the lower edge while weights are edited."""
        if self.weights is None:
            return ""
        return f"{self.weights.describe()} · {'0 reset · a compares' if self.weights.changed else '+ − move it'}"

    def take(self, frame: Frame, *, same: bool) -> None:
        """Drop the weights if the new frame was not ranked by them. same: it has the same question."""
        if self.weights is not None and not (same and self.weights.fits(frame.weights)):
            self.weights = None

    @property
    def moved_weights(self) -> str | None:
        """The operator's weights; None for the frame's own, which a composite has for each part."""
        return self.weights.text() if self.weights is not None and self.weights.changed else None

    def action_part(self, by: int) -> None:
        if (frame := self.frame()) is not None:
            self.weights = self._begin(frame).walk(by)
            self.pane.show_change()

    def action_weigh(self, by: int) -> None:
        """Change a weight and rank again at once, without reinforcing anything."""
        if (frame := self.frame()) is not None:
            self.weights = self._begin(frame).move(by)
            self._look_again(frame)

    def action_unweigh(self) -> None:
        """Restore the frame's own weights, in a composite those of each part."""
        if self.weights is not None and (frame := self.frame()) is not None:
            self.weights = replace(self.weights, now=self.weights.first)
            self._look_again(frame)

    def action_compare(self) -> None:
        """Compare the frame's own weights, A, with the operator's, B."""
        frame, mine = self.frame(), self.moved_weights
        if frame is None or mine is None:
            words = "Move a weight first: ← → choose it, + and − move it."
            self.pane.notify(words, title="Nothing to compare")
            return
        compare = operations.frame_definitions.compare
        self.pane.ask(compare(frame.name, frame.name, query=frame.query, weights_b=mine))

    def _begin(self, frame: Frame) -> WeightEditor:
        """Return the present editor, or one that begins with the weights of the frame on view."""
        return self.weights or WeightEditor(frame.weights, frame.weights)

    def _look_again(self, frame: Frame) -> None:
        call = operations.frame.assemble(frame.name, query=frame.query, weights=self.moved_weights, look=True)
        self.pane.ask(call, origin="screen")
        self.pane.show_change()
