"""The options of every command as Typer parameters, and the engine options that follow from them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from amgs.clock import parse_instant
from amgs.errors import UsageError
from amgs_app.calls.shared_options import SHARED_OPTIONS, SHARED_PANEL, TOKEN, flag_of

if TYPE_CHECKING:
    from amgs_app.engine import Options


class Screen(Protocol):
    """What the command line needs of a screen; it imports none itself."""

    def open(self, open_session: Callable[[], Any], **options: Any) -> int:
        """Show the workstation until the operator leaves; return the exit code."""

    def serve(self, words: Sequence[str], port: int) -> int:
        """Serve the workstation to a browser on this machine; return the exit code."""


@dataclass(frozen=True, slots=True)
class Globals:
    """The global options as typed; None for each that was left out.

    own: use the user's own memory rather than the sample's. screen: draws the workstation; None if none is installed.
    """

    store: str | None = None
    corpus: Path | None = None
    model: str | None = None
    now: str | None = None
    seed: int | None = None
    theme: str | None = None
    format: str | None = None
    settings: Path | None = None
    connect: str | None = None
    token: str | None = None
    read_only: bool | None = None
    own: bool | None = None
    screen: Screen | None = None

    def over(self, values: Mapping[str, Any]) -> Globals:
        """Return these options with later values on the line replacing them."""
        known = {field.name for field in fields(self)}
        return replace(self, **{name: value for name, value in values.items() if name in known and value is not None})

    def options(self) -> Options:
        """Return the options of the engine; raises UsageError for an invalid time, ModelError for an unknown model."""
        from amgs_app.engine import Options

        try:
            now = None if self.now is None else parse_instant(self.now)
        except (ValueError, OverflowError) as error:
            raise UsageError(f"Invalid --now {self.now!r}.", way_out="Write it as 2026-03-01T09:00:00Z.") from error
        if self.model is not None:
            from amgs_app.models.choice import require_model

            require_model(self.model)
        return Options(
            store=self.store,
            corpus=self.corpus,
            model=self.model,
            now=now,
            seed=self.seed or 0,
            theme=self.theme,
            settings=self.settings,
            own=bool(self.own),
            connect=self.connect or "",
            token=self.token or os.environ.get(TOKEN, ""),
            read_only=bool(self.read_only),
        )


def _option(name: str, offers: Callable[[], Sequence[str]] | None = None) -> Any:
    """Return the Typer option. offers: returns the values that shell completion proposes; None for file names."""
    metavar, help_text = SHARED_OPTIONS[name]

    def complete(incomplete: str) -> list[str]:
        return [offer for offer in (offers or tuple)() if offer.startswith(incomplete)]

    return typer.Option(
        flag_of(name),
        metavar=metavar or None,
        help=help_text,
        rich_help_panel=SHARED_PANEL,
        autocompletion=complete if offers else None,
    )


def _formats() -> Sequence[str]:
    from amgs_app.shell.output import FORMATS

    return FORMATS


def _theme_names() -> Sequence[str]:
    from amgs_app.terminal.themes import load_all, theme_folders

    return tuple(load_all(theme_folders())[0])


Store = Annotated[str | None, _option("store")]
CorpusFolder = Annotated[Path | None, _option("corpus")]
Model = Annotated[str | None, _option("model")]
Now = Annotated[str | None, _option("now")]
Seed = Annotated[int | None, _option("seed")]
Theme = Annotated[str | None, _option("theme", _theme_names)]
Form = Annotated[str | None, _option("format", _formats)]
SettingsFile = Annotated[Path | None, _option("settings")]
Connect = Annotated[str | None, _option("connect")]
Token = Annotated[str | None, _option("token")]
ReadOnly = Annotated[bool | None, _option("read_only")]
Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]

ANNOTATIONS: Mapping[str, Any] = {
    "store": Store,
    "corpus": CorpusFolder,
    "model": Model,
    "now": Now,
    "seed": Seed,
    "theme": Theme,
    "format": Form,
    "settings": SettingsFile,
    "connect": Connect,
    "token": Token,
    "read_only": ReadOnly,
}
SWITCHES = frozenset(name for name, (metavar, _) in SHARED_OPTIONS.items() if not metavar)
"""Options that take no value."""


EVERYWHERE = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    for name, annotation in ANNOTATIONS.items()
)
