"""What a training run is told: one TOML file, each key with its sentence; of it a GistNet run's shape, losses,
curriculum and rate.

MegaContext, "Sample run config". Paths in it are relative to the file's own folder.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from amgs_focus.errors import ConfigurationError
from amgs_focus.gist import BLOCK, GistShape
from amgs_focus.settings import FocusSettings


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of the curriculum, up to and without step `until`.

    Each of `sequences` windows has `blocks` blocks of its level. Its students read `least` to `blocks`
    of them as gists: `short` students continue for `short_horizon` tokens, `long` ones for `long_horizon`, so
    that the first part of a long continuation is the raw tail of the second. With probability `open_share` a
    student reads one of its blocks raw.
    """

    until: int
    sequences: int
    blocks: int
    short: int
    long: int
    least: int = 1
    short_horizon: int = BLOCK
    long_horizon: int = 3 * BLOCK
    open_share: float = 0.0


@dataclass(frozen=True, slots=True)
class GistTraining:
    """Settings of one run. Losses are in nats a token; `gap` weighs KL(teacher ‖ student)."""

    shape: GistShape
    phases: tuple[Phase, ...]
    level: Literal[1, 2] = 1
    steps: int = 2000
    seed: int = 0
    learning_rate: float = 6e-4
    warmup: int = 100
    decay: float = 0.35
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    gap: float = 1.0
    truth: float = 0.5
    hinge: float = 0.5
    hinge_every: int = 8
    contrast: float = 0.03
    contrast_every: int = 1
    content_weight: float = 1.0
    style_share: float = 0.5
    reconstruction: float = 0.1
    recited: int = 8
    separation: float = 0.05
    separation_margin: float = 0.5
    validate_every: int = 200
    validation_windows: int = 48
    save_every: int = 100


def phase_at(settings: GistTraining, step: int) -> Phase:
    """The phase of a step; the last one goes on for ever."""
    return next((phase for phase in settings.phases if step < phase.until), settings.phases[-1])


def learning_rate(settings: GistTraining, step: int) -> float:
    """Linear warm-up, a plateau, and a cosine down to a twentieth over the last `decay` of the steps."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    begin = settings.steps * (1 - settings.decay)
    if step < begin:
        return settings.learning_rate
    done = min(1.0, (step - begin) / max(1.0, settings.steps - begin))
    return settings.learning_rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))


class ConfigSection(BaseModel):
    """A frozen group of keys that refuses unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelConfig(ConfigSection):
    base: str = Field(default="smollm2", description="A path, a cached hub id, smollm2, or tiny.")
    precision: Literal["auto", "bf16", "fp16", "fp32"] = "fp32"
    device: str = Field(default="cpu", description="cpu, or cuda where there is one.")
    cache: Path | None = Field(
        default=None, description="Where the unpacked weights of a GGUF file are kept for the next time."
    )

    @field_validator("cache")
    @classmethod
    def _from_the_file(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        return value and _placed(value, info)


class TextConfig(ConfigSection):
    name: str = Field(pattern=r"^[\w.-]+$", description="Names the text in shards, logs and the model card.")
    path: Path = Field(description="A text file, or a folder of them.")
    suffixes: tuple[str, ...] = Field(default=(".txt", ".md", ".py"), description="Which files of a folder are read.")
    weight: float = Field(default=1.0, ge=0, description="How often windows come from it, beside the others; 0 never.")
    held_out: float = Field(
        default=0.03, ge=0, le=1, description="The last share of its tokens is kept apart for validation."
    )

    @field_validator("path")
    @classmethod
    def _from_the_file(cls, value: Path, info: ValidationInfo) -> Path:
        return _placed(value, info)


class DataConfig(ConfigSection):
    staged: Path = Field(default=Path("shards"), description="The folder of the Arrow shards.")
    texts: tuple[TextConfig, ...] = Field(min_length=1, description="What is trained on.")

    @field_validator("staged")
    @classmethod
    def _from_the_file(cls, value: Path, info: ValidationInfo) -> Path:
        return _placed(value, info)

    @field_validator("texts")
    @classmethod
    def _named_apart(cls, value: tuple[TextConfig, ...]) -> tuple[TextConfig, ...]:
        names = [text.name for text in value]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two texts are called {twice[0]!r}")
        if not any(text.weight for text in value):
            raise ValueError("every text has weight 0, so there is nothing to train on")
        if whole := [text.name for text in value if text.weight and text.held_out == 1]:
            raise ValueError(f"{whole[0]} is kept apart whole: give it weight 0")
        return value


class OptimiserConfig(ConfigSection):
    learning_rate: float = Field(default=6e-4, gt=0)
    warmup: int = Field(default=100, ge=1, description="Steps in which the rate rises.")
    decay: float = Field(default=0.35, ge=0, le=1, description="Share of the steps, at the end, in which it falls.")
    weight_decay: float = Field(default=0.01, ge=0)
    clip: float = Field(default=1.0, gt=0, description="Norm above which gradients are scaled down.")
    accumulate: int = Field(default=1, ge=1, description="Passes whose mean gradient makes one step.")


class LossConfig(ConfigSection):
    gap: float = Field(default=1.0, ge=0, description="Weight of KL(full text ‖ gists).")
    truth: float = Field(default=0.5, ge=0, description="Weight of the NLL of what really follows.")
    hinge: float = Field(default=0.5, ge=0, description="Weight of doing worse than dropping the span.")
    hinge_every: int = Field(default=8, ge=1, description="Steps between two hinges, which cost a pass.")
    contrast: float = Field(
        default=0.03, ge=0, description="Weight of explaining what follows better than another block's gists."
    )
    contrast_every: int = Field(default=1, ge=1, description="Steps between two contrasts, which cost a pass.")
    content_weight: float = Field(
        default=1.0, ge=0, description="How much more a token counts for each nat by which its own block helps."
    )
    style_share: float = Field(
        default=0.5, ge=0, le=1, description="Share of the students that find learned entries for the style."
    )
    reconstruction: float = Field(
        default=0.1, ge=0, description="Weight of a gist's own tokens, read from it by the frozen model."
    )
    recited: int = Field(default=8, ge=1, description="Blocks a step that are asked for their own tokens.")
    separation: float = Field(default=0.05, ge=0, description="Weight of pushing neighbouring gists apart.")
    separation_margin: float = Field(default=0.5, ge=-1, le=1)


class PhaseConfig(ConfigSection):
    """One stretch of the curriculum, up to and without step `until`."""

    until: int = Field(gt=0)
    sequences: int = Field(default=2, gt=0)
    blocks: int = Field(default=4, gt=0)
    short: int = Field(default=2, ge=0)
    long: int = Field(default=2, ge=0)
    least: int = Field(default=1, gt=0)
    short_horizon: int = Field(default=BLOCK, gt=0)
    long_horizon: int = Field(default=3 * BLOCK, gt=0)
    open_share: float = Field(default=0.0, ge=0, le=1)


class NetConfig(ConfigSection):
    """One of the two nets: its size, its steps, its curriculum."""

    hidden: int = Field(default=512, gt=0)
    heads: int = Field(default=8, gt=0)
    token_ratio: int = Field(default=2, gt=0)
    slot_ratio: int = Field(default=3, gt=0)
    layer: int = Field(
        default=0, ge=0, description="Layers of the frozen model after which its states are read too; 0: none."
    )
    steps: int = Field(default=1000, ge=0)
    optimiser: OptimiserConfig = OptimiserConfig()
    loss: LossConfig = LossConfig()
    phases: tuple[PhaseConfig, ...] = Field(default=(PhaseConfig(until=1_000_000),), min_length=1)
    validate_every: int = Field(default=200, gt=0)
    validation_windows: int = Field(default=48, gt=0)
    save_every: int = Field(default=50, gt=0)


_GISTS_NET = NetConfig(
    hidden=320,
    steps=200,
    optimiser=OptimiserConfig(learning_rate=7e-4, warmup=6, decay=0.6),
    loss=LossConfig(hinge_every=2, separation=0.0),
    phases=(PhaseConfig(until=1_000_000, blocks=1, short=1, long=1),),
    validation_windows=12,
)


class GistConfig(ConfigSection):
    start: str = Field(
        default="", description='Where the net for tokens begins: "shipped", a checkpoint, or empty for anew.'
    )
    tokens: NetConfig = NetConfig()
    gists: NetConfig = _GISTS_NET

    @field_validator("start")
    @classmethod
    def _from_the_file(cls, value: str, info: ValidationInfo) -> str:
        return value if value in ("", "shipped") else str(_placed(Path(value), info))


class LoggingConfig(ConfigSection):
    every: int = Field(default=1, ge=1, description="Steps between two lines of log.jsonl.")
    wandb: str = Field(default="", description="A Weights & Biases project to log to as well; needs the wandb package.")


class RunConfig(ConfigSection):
    """A training run, whole."""

    name: str = Field(default="run", pattern=r"^[\w.-]+$", description="Names the checkpoint.")
    seed: int = Field(default=0, ge=0)
    workers: int = Field(
        default=1, ge=1, le=64, description="One-threaded processes that share each step, on a processor."
    )
    out: Path = Field(default=Path("run"), description="The run's folder: states, log, record, checkpoint.")
    model: ModelConfig = ModelConfig()
    focus: FocusSettings = FocusSettings()
    data: DataConfig
    gistnet: GistConfig = GistConfig()
    logging: LoggingConfig = LoggingConfig()

    @field_validator("out")
    @classmethod
    def _from_the_file(cls, value: Path, info: ValidationInfo) -> Path:
        return _placed(value, info)

    @field_validator("focus")
    @classmethod
    def _blocks_of_the_net(cls, value: FocusSettings) -> FocusSettings:
        if value.block_size != BLOCK:
            raise ValueError(f"block_size is {value.block_size}, and GistNet is built for blocks of {BLOCK}")
        return value

    def training(self, part: Literal["tokens", "gists"], width: int) -> GistTraining:
        """The settings of one of the two nets, for embeddings of this width."""
        net: NetConfig = getattr(self.gistnet, part)
        shape = GistShape(
            width=width, **net.model_dump(include={"hidden", "heads", "token_ratio", "slot_ratio", "layer"})
        )
        return GistTraining(
            shape=shape,
            phases=tuple(Phase(**phase.model_dump()) for phase in net.phases),
            level=1 if part == "tokens" else 2,
            seed=self.seed,
            **net.optimiser.model_dump(),
            **net.loss.model_dump(),
            **net.model_dump(include={"steps", "validate_every", "validation_windows", "save_every"}),
        )


Config = TypeVar("Config", bound=RunConfig)


def read_config(path: Path) -> RunConfig:
    """The run that a TOML file describes; raises ConfigurationError as `read_as` does."""
    return read_as(RunConfig, path)


def read_as(kind: type[Config], path: Path) -> Config:
    """The same as a configuration with sections of its own.

    Raises ConfigurationError that names the file, and every key that is unknown or out of range.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", way_out="Give a TOML file.") from error
    except ValueError as error:
        raise ConfigurationError(f"{path.name} is not TOML: {error}.", way_out="Correct the line it names.") from error
    return parse_as(kind, given, path.parent, path.name)


def parse_config(given: Mapping[str, Any], folder: Path, name: str = "the configuration") -> RunConfig:
    """The same from a mapping; relative paths are taken from `folder`. name: of the file, for errors."""
    return parse_as(RunConfig, given, folder, name)


def parse_as(kind: type[Config], given: Mapping[str, Any], folder: Path, name: str = "the configuration") -> Config:
    """The same as a configuration with sections of its own."""
    # Defaults hold paths too, so they are placed by the same validators.
    filled = {"out": "run", **given}
    if isinstance(data := filled.get("data"), Mapping):
        filled["data"] = {"staged": "shards", **data}
    try:
        return kind.model_validate(filled, context={"folder": folder})
    except ValidationError as error:
        faults = "; ".join(_sentence(fault, kind) for fault in error.errors())
        raise ConfigurationError(
            f"{name}: {faults}.",
            way_out="Correct the keys it names; benchmarks/focus_training/GISTS.md lists them all.",
        ) from error


def _placed(path: Path, info: ValidationInfo) -> Path:
    """A path of the file, from the file's folder."""
    folder = (info.context or {}).get("folder", Path())
    return Path(folder) / path.expanduser()


def _sentence(fault: Any, kind: type[RunConfig]) -> str:
    place = ".".join(str(step) for step in fault["loc"])
    if fault["type"] == "missing":
        return f"{place} is missing"
    if fault["type"] != "extra_forbidden":
        return f"{place}: {fault['msg'][0].lower()}{fault['msg'][1:]}"
    near = get_close_matches(str(fault["loc"][-1]), _keys_at(fault["loc"][:-1], kind), n=1)
    return f"{place} is no key" + (f" (did you mean {near[0]}?)" if near else "")


def _keys_at(place: tuple[str | int, ...], config: type[RunConfig]) -> list[str]:
    """The keys of the section at a place of the configuration."""
    section: Any = config
    for step in place:
        if isinstance(step, int):
            continue
        kind = section.model_fields[step].annotation
        section = next((one for one in get_args(kind) if _is_section(one)), kind)
    return list(section.model_fields)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
