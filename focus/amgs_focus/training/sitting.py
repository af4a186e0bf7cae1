"""One sitting of a run: what each step tells goes to the log, the record and whoever watches.

Cancelling, which is an error that the watcher raises, is kept until the state of the run is on the disk.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amgs_focus.gist_tree import Progress
from amgs_focus.prefix import PerfClock
from amgs_focus.training.gistnet import StepReport
from amgs_focus.training.pace import Pace
from amgs_focus.training.records import Leg, TrainedPart
from amgs_focus.training.run_config import RunConfig
from amgs_focus.training.run_log import RunLog
from amgs_focus.training.run_record import RunRecord


class Sitting:
    """Steps `first` to `until` of a part that has `steps` in all."""

    def __init__(
        self,
        config: RunConfig,
        folder: Path,
        part: str,
        spoken: str,
        span: tuple[int, int, int],
        clock: PerfClock,
        progress: Progress | None,
    ) -> None:
        """span: first, until, steps. Raises ConfigurationError when the log cannot be written."""
        self.first, until, steps = span
        self._config, self._folder = config, folder
        self._seen = TrainedPart(part, self.first, steps, 0.0)
        self._pace = Pace(clock, self.first, until, spoken)
        self._progress = progress
        self._asked: BaseException | None = None
        self._log = RunLog(folder / "log.jsonl", config, part, self.first)

    def report(self, said: StepReport) -> None:
        """Takes a step's report; raises what the watcher raises."""
        self._log.write(said.step, {"rate": said.learning_rate, **said.losses}, said.validation)
        validation = said.validation or self._seen.validation
        self._seen = replace(self._seen, step=said.step, losses=said.losses, validation=validation)
        if self._progress is not None:
            self._progress(*self._pace.at(said.step, said.losses, said.validation))

    def hear(self, said: StepReport) -> None:
        """The same, but what the watcher raises is kept: `stopped` then says so, and `end` raises it."""
        try:
            self.report(said)
        except BaseException as error:  # noqa: BLE001 - it goes on once the state is saved
            self._asked = error

    def stopped(self) -> bool:
        return self._asked is not None

    def noted(self, record: RunRecord, step: int) -> RunRecord:
        """The record after this sitting ended at `step`, written down; ends the log."""
        self._log.close()
        part = self._seen.part
        before = next((one for one in record.parts if one.part == part), None)
        if before is not None and not self._seen.validation:
            self._seen = replace(self._seen, validation=before.validation)
        if before is not None and not self._seen.losses:
            self._seen = replace(self._seen, losses=before.losses)
        leg = Leg(part, self.first, step, self._pace.seconds, self._config.workers)
        after = record.after(leg, replace(self._seen, step=step))
        after.save(self._folder)
        return after

    def end(self) -> None:
        """Raises what the watcher raised, if it did."""
        if self._asked is not None:
            raise self._asked
