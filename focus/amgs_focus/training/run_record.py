"""What a run remembers of itself, `run.json`: the source of its model card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from amgs_focus.errors import ConfigurationError
from amgs_focus.records import ModelCard
from amgs_focus.training.records import Effect, Leg, TrainedPart
from amgs_focus.training.run_config import RunConfig

FORMAT = "amgs-run-1"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """kind: what is trained. configuration: as it was at the last sitting. legs: every sitting, in order. effects: of
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
        """The record with one more sitting."""
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
