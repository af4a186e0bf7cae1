"""What a run keeps on the disk, and one session of it.

`run.json` is the source of its model card, `log.jsonl` has one line a step, and Weights & Biases gets the same when
asked. What a step of a session reports goes there and to the progress callback, with throughput and time left.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amgs_focus.errors import ConfigurationError
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import ModelCard
from amgs_focus.trace.telemetry import begin_wandb_run
from benchmarks.focus_training.records import Effect, Leg, TrainedPart
from benchmarks.focus_training.run_config import RunConfig
from benchmarks.focus_training.trainer import StepReport, score

FORMAT = "amgs-run-1"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """kind: what is trained. configuration: as it was in the last session. legs: every session, in order. effects: of
    the phases that are done.
    """

    kind: str
    model: Mapping[str, Any]
    configuration: Mapping[str, Any]
    legs: tuple[Leg, ...] = ()
    parts: tuple[TrainedPart, ...] = ()
    effects: tuple[Effect, ...] = ()
    format: str = FORMAT

    @classmethod
    def open(cls, folder: Path, config: RunConfig, model: ModelCard, kind: str) -> Self:
        """The record in a folder, or a new one. Raises ConfigurationError for one of another model or kind."""
        fresh = cls(kind, asdict(model), config.model_dump(mode="json"))
        try:
            said = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            legs = tuple(Leg(**leg) for leg in said["legs"])
            parts = tuple(TrainedPart(**part) for part in said["parts"])
            effects = tuple(_effect(one) for one in said["effects"])
        except FileNotFoundError:
            return fresh
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{folder / 'run.json'} is not the record of a run.", way_out="Choose another folder."
            ) from error
        if (said["kind"], said["model"]["name"]) != (kind, model.name):
            raise ConfigurationError(
                f"{folder} holds a run of {said['kind']} on {said['model']['name']}.", way_out="Choose another folder."
            )
        return replace(fresh, legs=legs, parts=parts, effects=effects)

    def after(self, leg: Leg, part: TrainedPart) -> Self:
        """The record with one more session."""
        legs = (*self.legs, leg)
        seconds = sum(one.seconds for one in legs if one.part == part.part)
        kept = tuple(one for one in self.parts if one.part != part.part)
        return replace(self, legs=legs, parts=(*kept, replace(part, seconds=seconds)))

    def save(self, folder: Path) -> None:
        """Writes run.json beside the old one and renames it into place."""
        partial = folder / "run.partial"
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        partial.replace(folder / "run.json")


def _effect(said: Mapping[str, Any]) -> Effect:
    whole: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in said.items()}
    return Effect(**whole)


Values = Mapping[str, float]


class RunLog:
    """The log of one part of a run; a line is on its way to the disk when `write` returns."""

    def __init__(self, path: Path, config: RunConfig, part: str, step: int) -> None:
        """Goes on after step `step`: lines of steps that are about to be taken again are dropped.

        Raises ConfigurationError when Weights & Biases is asked for and not installed, or the file cannot be
        written.
        """
        self._part = part
        self._every = config.logging.every
        self._wandb = _wandb_run(config, part) if config.logging.wandb else None
        try:
            _keep_until(path, part, step)
            self._file = path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigurationError(
                f"{path} cannot be written: {error.strerror}.", way_out="Choose another folder."
            ) from error

    def write(self, step: int, values: Values, validation: Values | None = None) -> None:
        """One step's figures by name; steps between two lines are left out unless they were validated."""
        if step % self._every and not validation:
            return
        line = {"part": self._part, "step": step, **_rounded(values)}
        if validation:
            line["validation"] = _rounded(validation)
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        if self._wandb is not None:
            told = {f"{self._part}/{name}": value for name, value in {**values, **(validation or {})}.items()}
            self._wandb.log(told, step=step)

    def close(self) -> None:
        self._file.close()
        if self._wandb is not None:
            self._wandb.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_log(path: Path, part: str) -> list[dict[str, Any]]:
    """The lines of one part, in order; a last line that was cut off is left out."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if said["part"] == part:
            found.append(said)
    return found


def _keep_until(path: Path, part: str, step: int) -> None:
    """Drops this part's lines after a step, and a line that a crash cut off."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if said["part"] != part or said["step"] <= step:
            kept.append(line + "\n")
    partial = path.with_suffix(".partial")
    partial.write_text("".join(kept), encoding="utf-8")
    partial.replace(path)


def _wandb_run(config: RunConfig, part: str) -> Any:
    return begin_wandb_run(
        config.logging.wandb,
        "logging.wandb",
        name=f"{config.name}-{part}",
        id=f"{config.name}-{part}-{config.seed}",
        resume="allow",
        config=config.model_dump(mode="json"),
    )


def _rounded(values: Values) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in values.items()}


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
