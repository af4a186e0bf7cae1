"""How fast a run goes and how long it still takes, in the words of its progress."""

from __future__ import annotations

from collections.abc import Mapping

from amgs_focus.protocols import PerfClock

_TOLD = ("kl", "nll", "loss")


class Throughput:
    """Measures steps `first` to `last` of something. The first step, which warms up, counts only in `seconds`."""

    def __init__(self, clock: PerfClock, first: int, last: int, doing: str) -> None:
        self._clock = clock
        self._began = self._counted = clock.perf()
        self._first, self._last = first, last
        self._doing = doing
        self._validation = ""

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self._clock.perf() - self._began

    def at(
        self, step: int, losses: Mapping[str, float], validation: Mapping[str, float] | None = None
    ) -> tuple[int, int, str]:
        """(done, total, what is being done) after a step, as a Progress wants it."""
        done = step - self._first
        if done == 1:
            self._counted = self._clock.perf()
        said = [f"{self._doing}, step {step}"]
        said += [f"{name} {losses[name]:.3f}" for name in _TOLD if name in losses]
        each = (self._clock.perf() - self._counted) / (done - 1) if done > 1 else 0.0
        if each > 0:
            said.append(f"{each:.1f} s a step, {spoken(each * (self._last - step))} left")
        if validation:
            shown = {n: v for n, v in validation.items() if n.startswith("recovered")} or validation
            self._validation = ", ".join(f"{name} {value:.3f}" for name, value in shown.items())
            if validation.get("drift", 0.0) > 0:
                self._validation += f", {validation['drift']:.3f} behind its best"
        if self._validation:
            said.append(self._validation)
        return done, self._last - self._first, "; ".join(said)


def spoken(seconds: float) -> str:
    """A duration in its largest fitting unit."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
