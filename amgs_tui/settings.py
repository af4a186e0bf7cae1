"""The workstation's settings: one TOML file and AMGS_… environment variables, each field with its sentence.

`AMGS_MEMORY__DECAY__THRESHOLD=0.1` sets `[memory.decay] threshold`; the environment wins over the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from amgs.errors import UsageError
from amgs.settings import Section, Settings
from amgs_focus.settings import FocusSettings


class ModelSettings(Section):
    base: str = Field(
        default="smollm2", description="The language model: a path, a cached hub id, smollm2, or tiny."
    )
    precision: str = Field(default="auto", description="auto, bf16, fp16 or fp32.")
    embedder: str = Field(
        default="",
        description="A folder or cached hub id of a sentence encoder; empty for the packaged MiniLM.",
    )


class ScreenSettings(Section):
    theme: str = Field(
        default="", description="The palette to start with; empty for the first that ships with the program."
    )
    symbols: Literal["auto", "braille", "block", "ascii"] = Field(
        default="auto", description="Signs of the pictures; auto asks what the terminal can show."
    )
    keys: dict[str, str] = Field(
        default_factory=dict,
        description='Other keys by the id of what they do: "focus.step" = "x". F1 names the ids.',
    )


class WorkstationSettings(BaseSettings):
    """Everything the program can be told."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix="AMGS_",
        env_nested_delimiter="__",
        nested_model_default_partial_update=True,
    )

    memory: Settings = Settings()
    focus: FocusSettings = FocusSettings()
    model: ModelSettings = ModelSettings()
    screen: ScreenSettings = ScreenSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment; the TOML file comes in through the arguments."""
        return (env_settings, init_settings)


def load_settings(file: Path | None = None) -> WorkstationSettings:
    """The settings of this run.

    file: a TOML file that must exist; None for the one in the user's configuration folder, if there is one.
    Raises UsageError that names the field for what is unknown or out of range.
    """
    path = file if file is not None else default_file()
    try:
        given = _read(path) if file is not None or path.is_file() else {}
        return WorkstationSettings(**given)
    except ValidationError as error:
        raise UsageError(
            "; ".join(_sentence(fault) for fault in error.errors()) + ".",
            title="A setting cannot be used",
            way_out=f"Correct {path} or the AMGS_… variable of that name.",
        ) from error


def default_file() -> Path:
    """Where the settings are looked for when none are named."""
    import platformdirs

    return Path(platformdirs.user_config_dir("amgs", appauthor=False)) / "settings.toml"


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}.",
            title="The settings cannot be read",
            way_out="Give a TOML file.",
        ) from error


def _sentence(fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"])
    return f"{place}: {fault['msg']}"
