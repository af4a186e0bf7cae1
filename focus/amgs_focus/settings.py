"""The settings of the focus engine, each with its description and the specification's default."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from amgs_focus.errors import SettingError

CHANGEABLE = (
    "answer_tokens",
    "cadence",
    "cooldown",
    "full_read_every",
    "horizon",
    "n_diff",
    "question_n_diff",
    "question_passes",
    "refinement_passes",
    "slack",
    "tau_collapse",
    "tau_expand",
    "temperature",
    "unasked",
    "window",
)
"""What an operator may change while a lifetime is open: settings, and some constants for experiments."""


class RunConstants(BaseModel):
    """Constants of the engine's algorithms, from measurements or the specification.

    No settings file holds them; a trace does, so that it is replayed with its own. Tokens are those of the base model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    block_size: int = Field(default=32, ge=2, le=1024, description="K: tokens in a block, and children of a gist.")
    focus_share: float = Field(
        default=0.0, ge=0, lt=1, description="Share of the window that a new layout leaves free for the focus."
    )
    slack: float = Field(
        default=0.125,
        ge=0,
        lt=1,
        description="Share of the window that is freed at once when it is full: "
        "with more, the model recomputes less but sees fewer of the latest tokens.",
    )
    full_read_every: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Of this many reads after a refocus that changed something, one computes the whole window "
        "and the others only what is new; 1 computes everything each time.",
    )
    bridge_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="How much of a wanted span's score crosses a bridge to what it belongs to, in a corpus.",
    )
    cooldown: int = Field(
        default=2, ge=0, description="For how many refocuses the opposite of an action stays blocked."
    )
    refinement_passes: int = Field(default=1, ge=1, le=8, description="Score-and-allocate passes in a refocus.")
    question_passes: int = Field(
        default=16, ge=1, le=64, description="The same for the first refocus after a question."
    )
    question_n_diff: int = Field(
        default=2,
        ge=0,
        description="Maximum actions in each of those passes, "
        "so that the best span is expanded down to its tokens before the next is begun.",
    )
    horizon: int = Field(default=32, gt=0, description="H: tokens over which a counterfactual is measured.")
    history: int = Field(default=24, ge=1, description="Refocuses whose level-of-detail map is stored for the screen.")


class FocusSettings(RunConstants):
    """Parameters of a run: its settings and, inherited, its constants."""

    window: int = Field(default=512, gt=0, description="W_max: positions of the working context, sinks included.")
    cadence: int = Field(default=32, gt=0, description="Tokens decoded between two refocuses.")
    tail_blocks: int = Field(default=2, ge=0, description="Whole blocks at the end that are always held as tokens.")
    tau_expand: float = Field(default=0.2, ge=0, le=1, description="A score above this asks for more detail.")
    tau_collapse: float = Field(default=0.2, ge=0, le=1, description="A score below minus this asks for less.")
    n_diff: int = Field(default=4, ge=0, description="Maximum actions in one pass of the allocator.")
    lens: str = Field(
        default="attention",
        min_length=1,
        description="What scores the entries: attention (the LensNet trained for the model, search where there is "
        "none; ranks of unseen snapshots agree by 0.28), search (likeness to the question and the last tokens; 0.17; "
        "at random 0.03), or a checkpoint's path. Windows built by any of them are "
        "no better than by chance.",
    )
    unasked: Literal["pair", "thresholds"] = Field(
        default="pair",
        description="What a refocus does while nothing is asked: pair (the gist of level 1 with the highest score "
        "opens, the raw block farthest from the cursor closes; 4 % of entries change, the next tokens cost "
        "-.001 [-.006, .005] nats more) or thresholds (the specification's; +.017 [-.004, .044]).",
    )
    temperature: float = Field(
        default=0.0, ge=0, description="0 takes the most likely token; above 0, tokens are sampled."
    )
    answer_tokens: int = Field(default=256, gt=0, description="Maximum tokens of an answer.")
    seed: int = Field(default=0, ge=0, description="Random seed of sampling when the temperature is above 0.")

    def with_setting(self, key: str, value: str) -> FocusSettings:
        """Return the settings with a CHANGEABLE one parsed from text. Raises SettingError that says what is allowed."""
        if key not in CHANGEABLE:
            raise SettingError(
                f"{key!r} cannot be changed while a lifetime is open.", way_out=f"These can: {', '.join(CHANGEABLE)}."
            )
        try:
            return FocusSettings.model_validate({**self.model_dump(), key: value})
        except ValidationError as error:
            field = FocusSettings.model_fields[key]
            raise SettingError(
                f"{key} = {value!r}: {error.errors()[0]['msg']}.", way_out=str(field.description)
            ) from error


class ForgetRules(BaseModel):
    """Rules for forgetting weak detail. Ages are in tokens of the lifetime, so that a plan depends on nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    half_life: int = Field(
        default=65_536, gt=0, description="Tokens of the lifetime after which a span that is not opened counts half."
    )
    half_lives: dict[str, PositiveInt] = Field(
        default_factory=dict, description='The same by domain: "log" = 8192 fades fast, "spec" = 1048576 slowly.'
    )
    recent: int = Field(default=4096, ge=0, description="Number of last tokens whose detail is never forgotten.")
