"""The workstation's settings: a TOML file and AMGS_… environment variables, each field with its sentence.

`AMGS_MEMORY__DECAY__THRESHOLD=0.1` sets `[memory.decay] threshold`; the environment wins over the file. `AMGS_DATA`
and `AMGS_CACHE` are short for the two folders in `[paths]`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, cast, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from amgs.bounds import check_address
from amgs.errors import InputError, UsageError
from amgs.incoming import is_folder, lies_there, read_toml
from amgs.settings import Settings, SettingsSection
from amgs_app.terminal.output import is_section, say_domain
from amgs_focus.settings import FocusSettings, ForgetRules

_PREFIX, _DELIMITER = "AMGS_", "__"
_SHORT = MappingProxyType({"AMGS_DATA": "data", "AMGS_CACHE": "cache"})
"""Variables that stand for a field of `[paths]`."""
_SECRETS = frozenset({"AMGS_TOKEN", "AMGS_MODEL_KEY"})
"""Variables that hold secrets. They are not settings, so that they never stand in a file."""
_LARGEST: Final = 10**12
"""Maximum of any number in the settings: a database, a calendar and an array hold it."""


class ModelSettings(SettingsSection):
    base: str = Field(
        default="smollm2",
        min_length=1,
        description="The language model: a path, a cached hub id, smollm2 for the packaged copy, or tiny.",
    )
    precision: Literal["auto", "bf16", "fp16", "fp32"] = Field(
        default="auto", description="Number format of the language model; auto: bf16 where it is fast."
    )
    device: str = Field(default="cpu", description="Where the language model runs: cpu, or cuda if available.")
    adapter: str = Field(default="", description="A LoRA adapter, as a training run wrote it; empty for none.")
    gists: str = Field(
        default="",
        description="A file of trained gists; empty for the latest of the model in "
        "`paths.checkpoints`, else the checkpoint shipped for it.",
    )
    embedder: str = Field(
        default="",
        description="A folder or cached hub id of a sentence encoder, or multilingual for an encoder of a hundred "
        "languages (the extra `languages`); empty for the packaged MiniLM, else the hub's.",
    )
    recogniser: str = Field(
        default="", description="A folder or package of a spaCy pipeline; empty for the packaged small English model."
    )
    server: str = Field(
        default="",
        description="The address of a server that speaks OpenAI's interface, with the model's name behind a #, such as "
        "http://127.0.0.1:8000/v1#NAME; its key stands in the variable AMGS_MODEL_KEY. It writes digests of "
        "conversations and frames that are summaries, and says what kinds and names notes hold, whether two say the "
        "same and where one turns to another subject, for which it reads them. Empty: none.",
    )


class PathSettings(SettingsSection):
    data: str = Field(
        default="", description="Folder of stores, traces and the shell's history; empty for the user's data folder."
    )
    checkpoints: str = Field(
        default="",
        description="Folder of your own checkpoints of gists and lens; those of the model, known by its embeddings, "
        "come before the shipped ones. Empty for `checkpoints` in the data folder.",
    )
    cache: str = Field(
        default="",
        description="Folder of the unpacked language model (540 MB in fp32, 270 MB in bf16); empty for the user's "
        "cache folder, off to unpack it at every start.",
    )


class StoreSettings(SettingsSection):
    wait_seconds: float = Field(
        default=10.0,
        ge=0.0,
        le=3600.0,
        description="How long a command waits for a store that another process has open, and begins anew where the "
        "next process has it.",
    )


class ScreenSettings(SettingsSection):
    theme: str = Field(default="", description="The colour theme; empty for the first shipped theme.")
    symbols: Literal["auto", "braille", "block", "ascii"] = Field(
        default="auto", description="Characters of the pictures; auto detects what the terminal can show."
    )
    load_ahead: bool = Field(
        default=True,
        description="Load the encoder while the first screen is read, and the language model while the first frame "
        "is; false: when they are needed first.",
    )
    keys: dict[str, str] = Field(
        default_factory=dict,
        description='Other keys, by the id of their action: "focus.step" = "x". docs/keys.md lists the ids.',
    )
    commands: dict[str, str] = Field(
        default_factory=dict,
        description='Commands of your own, by the key that runs them: "ctrl+g" = "graph path @1 @2"; what ends '
        "in … is put into the command line.",
    )


class GatewaySettings(SettingsSection):
    keep_prompts: bool = Field(
        default=True,
        description="Whether the gateway keeps the system prompts and definitions of tools of agents, each once, as "
        "long as a request that had it; `conversation exchanges N` shows them.",
    )


class WorkstationSettings(SettingsSection):
    """All settings of the program."""

    memory: Settings = Settings()
    focus: FocusSettings = FocusSettings()
    forgetting: ForgetRules = ForgetRules()
    model: ModelSettings = ModelSettings()
    paths: PathSettings = PathSettings()
    store: StoreSettings = StoreSettings()
    gateway: GatewaySettings = GatewaySettings()
    screen: ScreenSettings = ScreenSettings()


def load_settings(file: Path | None = None) -> WorkstationSettings:
    """Load the settings of this run.

    file: a TOML file that must exist; None for the file in the user's configuration folder, which may be missing.
    Raises UsageError for an invalid value, with the key and the file or variable that sets it. Unknown keys are
    ignored, since an earlier version may have had them; see `find_ignored`.
    """
    path = file if file is not None else default_file()
    settings, faults = check_settings(_read_values(path, named=file is not None))
    raise_faults(faults, path, named=file is not None)
    return settings


def check_settings(stated: Mapping[str, Any]) -> tuple[WorkstationSettings, dict[str, str]]:
    """Return the settings that values give, and a sentence for each key whose value is wrong."""
    values, _ = _split_known(stated, WorkstationSettings)
    plain = WorkstationSettings.model_construct()
    try:
        settings = WorkstationSettings(**values)
    except ValidationError as error:
        return plain, dict(map(_say_fault, error.errors()))
    return settings, {
        key: f"{key} takes {form}, not {value!r}."
        for key, value, default, _ in _walk("", settings, plain)
        if value != default and (form := _FORMS.get(key, _require_storable_number)(value))
    }


def raise_faults(faults: Mapping[str, str], file: Path, *, named: bool, typed_keys: Sequence[str] = ()) -> None:
    """Raise UsageError for settings that are wrong, if any are. typed_keys: as typed, which stand nowhere."""
    if not faults:
        return
    typed = [key for key in faults if any(f"{word}.".startswith(f"{key}.") for word in typed_keys)]
    places = {key: "" if key in typed else _place(key.split("."), file, {}) or str(file) for key in faults}
    sentences = [f"{faults[key].removesuffix('.')}{place and f' ({place})'}." for key, place in places.items()]
    variables = [place for place in dict.fromkeys(places.values()) if place not in ("", str(file))]
    ways = [f"Correct {' and '.join(variables)}."] if variables else []
    if keys := [f"{key}=default" for key, place in places.items() if place == str(file)]:
        option = f"--settings {file} " if named else ""
        ways.append(f"Correct {file}, or take it out: `amgs {option}settings {' '.join(keys)}`.")
    raise UsageError(" ".join(sentences), title="Invalid setting", way_out=" ".join(ways))


def _say_fault(fault: Any) -> tuple[str, str]:
    """Return the key of a fault, and what its setting takes."""
    kind: type[BaseModel] = WorkstationSettings
    steps = [str(step) for step in fault["loc"]]
    key = ".".join(steps)
    while len(steps) > 1 and is_section(below := kind.model_fields[steps[0]].annotation):
        kind, steps = below, steps[1:]
    return key, say_domain(key, kind, {**fault, "loc": steps[:1]} if len(steps) == 1 else {**fault, "loc": []})


def _require_storable_number(value: object) -> str:
    huge = isinstance(value, int | float) and value > _LARGEST
    return f"a number of {_LARGEST:,} at most" if huge else ""


def _require_server(address: str) -> str:
    try:
        check_address(address, "", "", fragment=True)
    except UsageError:
        return "an address such as http://127.0.0.1:8000/v1#NAME, without a key, a user or a query"
    return ""


def _require_theme(name: str) -> str:
    from amgs_app.terminal.themes import explain, load_all, theme_folders

    known, skipped = load_all(theme_folders())
    why = f" ({' '.join(explain(skipped).split())})" if skipped else ""
    return "" if name in known else f"one of {', '.join(known)}{why}"


def _require_device(name: str) -> str:
    return "" if re.fullmatch(r"cpu|cuda(:\d+)?", name) else "cpu, cuda or cuda:N"


def _require_folder(text: str) -> str:
    path = Path(text).expanduser()
    return "the path of a folder" if lies_there(path) and not is_folder(path) else ""


def _require_file(text: str) -> str:
    return "" if lies_there(Path(text)) else "the path of a file that is there"


def _require_base(spec: str) -> str:
    known = spec in ("smollm2", "tiny") or lies_there(Path(spec)) or re.fullmatch(r"[\w.-]+/[\w.-]+", spec)
    return "" if known else "smollm2, tiny, the path of a model, or the hub id of a model that is in the local cache"


_FORMS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "model.adapter": _require_file,
        "model.base": _require_base,
        "model.device": _require_device,
        "model.gists": _require_file,
        "model.server": _require_server,
        "paths.cache": _require_folder,
        "paths.checkpoints": _require_folder,
        "paths.data": _require_folder,
        "screen.theme": _require_theme,
    }
)
"""Settings that are texts of a form: each gives what such a setting takes, "" where the text fits."""


def find_ignored(file: Path | None = None) -> tuple[str, ...]:
    """Return a line about each key that a file or variable sets and that is not a setting: where it is set, and similar
    keys.
    """
    path = file if file is not None else default_file()
    _, unknown = _split_known(_read_values(path, named=file is not None), WorkstationSettings)
    return tuple(
        f"The setting {key} ({_place(key.split('.'), path, {}) or path}) is ignored: {say_unknown_setting(key)}"
        for key in unknown
    )


def _split_known(
    values: Mapping[str, Any], kind: type[BaseModel], prefix: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """Split the values of a section into those that it has as fields, and the dotted keys that it does not have."""
    known: dict[str, Any] = {}
    unknown: list[str] = []
    for name, value in values.items():
        if name not in inspect.get_annotations(kind):  # what it inherits are constants of an engine, no settings
            unknown.append(f"{prefix}{name}")
            continue
        below = kind.model_fields[name].annotation
        if isinstance(value, dict) and isinstance(below, type) and issubclass(below, BaseModel):
            known[name], more = _split_known(value, below, f"{prefix}{name}.")
            unknown += more
        else:
            known[name] = value
    return known, unknown


def _read_values(file: Path, *, named: bool) -> dict[str, Any]:
    """Read the file (which may be missing unless it was named), and let environment variables override it."""
    _refuse_unknown_variables()
    content = read_settings(file) if named or file.is_file() else {}
    short = {field: os.environ[name] for name, field in _SHORT.items() if name in os.environ}
    return _over(_over(content, {"paths": short} if short else {}), _variables())


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the settings. key: dotted, as in `memory.decay.threshold`. place: the file or variable that sets it,
    empty for the default. choices: the allowed values, if the list is closed.
    """

    key: str
    value: Any
    default: Any
    description: str
    place: str = ""
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """Name of the setting's environment variable."""
        return _PREFIX + self.key.upper().replace(".", _DELIMITER)


def every_setting(file: Path | None = None) -> tuple[Setting, ...]:
    """Return every key with its value in this run and where it is set; raises what `load_settings` raises."""
    path = file if file is not None else default_file()
    content = read_settings(path) if file is not None or path.is_file() else {}
    settings = load_settings(file)
    return tuple(
        Setting(
            key,
            value,
            default,
            field.description or "",
            _place(key.split("."), path, content),
            tuple(map(str, get_args(field.annotation))) if get_origin(field.annotation) is Literal else (),
        )
        for key, value, default, field in _walk("", settings, WorkstationSettings.model_construct())
    )


def _walk(prefix: str, section: BaseModel, plain: BaseModel) -> Iterator[tuple[str, Any, Any, FieldInfo]]:
    """Yield key, value, default and field of every setting in a section and the sections below it."""
    for name in inspect.get_annotations(type(section)):  # what it inherits are constants of an engine, no settings
        field = type(section).model_fields[name]
        value, default = getattr(section, name), getattr(plain, name)
        if isinstance(value, BaseModel):
            yield from _walk(f"{prefix}{name}.", value, default)
        else:
            yield f"{prefix}{name}", value, default, field


def _place(steps: list[str], file: Path, content: Any) -> str:
    """Return the name of the variable, or variables, that set a key; else the file that sets it; else ""."""
    variable = _PREFIX + _DELIMITER.join(steps).upper()
    short = next((s for s, field in _SHORT.items() if ["paths", field] == steps), "")
    for name in (variable, short):
        for env_name in os.environ:
            if name and env_name.upper() == name:
                return env_name
    entries = sorted(env_name for env_name in os.environ if env_name.upper().startswith(variable + _DELIMITER))
    if entries:
        return ", ".join(entries)
    for step in steps:
        content = content.get(step) if isinstance(content, dict) else None
    return "" if content is None else str(file)


def default_file() -> Path:
    """Return the path of the settings file that is read when none is named."""
    import platformdirs

    return Path(platformdirs.user_config_dir("amgs", appauthor=False)) / "settings.toml"


def read_settings(path: Path) -> dict[str, Any]:
    """Return what a file of settings says. Raises UsageError, which names the line that is wrong."""
    try:
        return read_toml(path, "Give a TOML file.")
    except InputError as error:
        raise UsageError(error.message, title="The settings cannot be read", way_out=error.way_out) from error


def _variables() -> dict[str, Any]:
    """Return the settings from environment variables, nested as in a file; AMGS_A__B overrides a JSON
    value of AMGS_A.
    """
    ours = {name: text for name, text in os.environ.items() if name.upper().startswith(_PREFIX)}
    if not {name.upper() for name in ours} - _SECRETS - set(_SHORT):
        return {}  # the library takes 40 ms of every start
    from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

    kind = cast("type[BaseSettings]", WorkstationSettings)
    try:
        return EnvSettingsSource(kind, env_prefix=_PREFIX, env_nested_delimiter=_DELIMITER)()
    except SettingsError as error:
        value = getattr(error.__cause__, "doc", "")  # what was no JSON
        name = next((name for name, text in ours.items() if text == value), _PREFIX)
        key = name.upper().removeprefix(_PREFIX).lower().replace(_DELIMITER, ".")
        raise UsageError(
            f"{name}={value} does not give {key} a table.",
            title="Invalid setting",
            way_out=f"Give a single value, as in {_PREFIX}MEMORY{_DELIMITER}DECAY{_DELIMITER}THRESHOLD=0.1.",
        ) from error


def _over(base: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two settings tables, section by section; values of `later` win."""
    laid = dict(base)
    for name, value in later.items():
        before = laid.get(name)
        laid[name] = _over(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return laid


def _refuse_unknown_variables() -> None:
    """Raise UsageError for a variable AMGS_… that names no section, such as a typing error."""
    known = {field.upper() for field in WorkstationSettings.model_fields}
    for name in sorted(os.environ):
        upper = name.upper()
        if upper.startswith(_PREFIX) and upper not in _SHORT and upper not in _SECRETS:
            section = upper.removeprefix(_PREFIX).split(_DELIMITER)[0]
            if section not in known:
                raise UsageError(
                    f"The environment variable {name} is not a setting.",
                    title="Invalid setting",
                    way_out=f"Start its name with AMGS_ and one of {', '.join(sorted(known))}; or unset it.",
                )


def say_unknown_setting(key: str) -> str:
    """Say that there is no such setting, and name similar keys of the same section, or the same key elsewhere."""
    from amgs_app.terminal.line import near

    *section, name = key.split(".")
    plain = WorkstationSettings.model_construct()
    keys = [dotted_key.split(".") for dotted_key, *_ in _walk("", plain, plain)]
    beside = {steps[len(section)] for steps in keys if steps[: len(section)] == section and len(steps) > len(section)}
    meant = [".".join([*section, candidate]) for candidate in near(name, sorted(beside))]
    meant = meant or [".".join(steps) for steps in keys if steps[-1] == name]
    return "there is no such setting" + (f"; did you mean {' or '.join(meant[:3])}?" if meant else ".")
