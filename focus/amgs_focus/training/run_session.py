"""One session of a run: what each step reports goes to the log, the record and the progress callback, with
throughput and time left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.training.records import Leg, TrainedPart
from amgs_focus.training.run_config import RunConfig
from amgs_focus.training.run_record import RunLog, RunRecord, read_log
from amgs_focus.training.trainer import StepReport, score


class RunSession:
    """Steps `first` to `until` of a part that has `steps` in all."""

    def __init__(
        self,
        config: RunConfig,
        folder: Path,
        part: str,
        label: str,
        span: tuple[int, int, int],
        clock: PerfClock,
        progress: ProgressCallback | None,
    ) -> None:
        """span: first, until, steps. Raises ConfigurationError when the log cannot be written."""
        self.first, until, steps = span
        self._config, self._folder = config, folder
        self._seen = TrainedPart(part, self.first, steps, 0.0)
        self._throughput = Throughput(clock, self.first, until, label)
        self._progress = progress
        self._log = RunLog(folder / "log.jsonl", config, part, self.first)
        known = [
            validation_score(line["validation"])
            for line in read_log(folder / "log.jsonl", part)
            if "validation" in line
        ]
        self._best = max(known, default=-math.inf)

    def report(self, said: StepReport) -> None:
        """Takes a step's report; raises what the progress callback raises.

        A validation gets one figure more, `drift`: how far it fell behind the best one of the run so far.
        """
        validation = dict(said.validation)
        if validation:
            self._best = max(self._best, found := validation_score(validation))
            validation["drift"] = self._best - found
        self._log.write(said.step, {"rate": said.learning_rate, **said.losses}, validation)
        self._seen = replace(
            self._seen, step=said.step, losses=said.losses, validation=validation or self._seen.validation
        )
        if self._progress is not None:
            self._progress(*self._throughput.at(said.step, said.losses, validation))

    def recorded(self, record: RunRecord, step: int) -> RunRecord:
        """The record after this session ended at `step`, saved; closes the log."""
        self._log.close()
        part = self._seen.part
        before = next((one for one in record.parts if one.part == part), None)
        if before is not None and not self._seen.validation:
            self._seen = replace(self._seen, validation=before.validation)
        if before is not None and not self._seen.losses:
            self._seen = replace(self._seen, losses=before.losses)
        leg = Leg(part, self.first, step, self._throughput.seconds, self._config.workers)
        after = record.after(leg, replace(self._seen, step=step))
        after.save(self._folder)
        return after


_SCORED = ("content_", "recovered_", "-loss_at_h", "-harm_")


def validation_score(validation: Mapping[str, float]) -> float:
    """One number that is higher when a validation is better: content or the gap recovered, else less loss or harm."""
    found = (score(validation, best_by) for best_by in _SCORED)
    return next((one for one in found if one is not None), 0.0)


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
            said.append(f"{each:.1f} s a step, {duration(each * (self._last - step))} left")
        if validation:
            judged = {n: v for n, v in validation.items() if n.startswith(("content", "recovered"))}
            shown = judged or validation
            self._validation = ", ".join(f"{name} {value:.3f}" for name, value in shown.items())
            if validation.get("drift", 0.0) > 0:
                self._validation += f", {validation['drift']:.3f} behind its best"
        if self._validation:
            said.append(self._validation)
        return done, self._last - self._first, "; ".join(said)


def duration(seconds: float) -> str:
    """A duration in its largest fitting unit."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
