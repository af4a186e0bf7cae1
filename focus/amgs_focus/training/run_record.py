"""What a run keeps on the disk: `run.json`, the source of its model card, and `log.jsonl`, one line a step; Weights &
Biases when asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amgs_focus.errors import ConfigurationError
from amgs_focus.records import ModelCard
from amgs_focus.training.records import Effect, Leg, TrainedPart
from amgs_focus.training.run_config import RunConfig
from amgs_focus.training.weights_and_biases import begin

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
                f"{folder / 'run.json'} is not the record of a run.",
                way_out="Choose another folder.",
                about="run",
            ) from error
        if (said["kind"], said["model"]["name"]) != (kind, model.name):
            raise ConfigurationError(
                f"{folder} holds a run of {said['kind']} on {said['model']['name']}.",
                way_out="Choose another folder.",
                about="run",
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
                f"{path} cannot be written: {error.strerror}.", way_out="Choose another folder.", about="run"
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
    return begin(
        config.logging.wandb,
        "logging.wandb",
        name=f"{config.name}-{part}",
        id=f"{config.name}-{part}-{config.seed}",
        resume="allow",
        config=config.model_dump(mode="json"),
    )


def _rounded(values: Values) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in values.items()}
