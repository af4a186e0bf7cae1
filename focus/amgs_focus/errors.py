"""Errors that the focus engine raises on purpose.

Each error has a title, a sentence and a way out, which a screen or a command line can show unchanged.

    FocusError                     exit 7
    ├── BaseModelError             exit 5   a base model cannot be used
    │   ├── ModelMissingError               it was not found
    │   └── ModelMismatchError              it was found and does not fit
    ├── CheckpointError            exit 5   trained weights are missing, damaged or of another shape
    ├── CtxError                   exit 4   a .ctx file contradicts itself or its model
    ├── WindowBudgetError          exit 2   a working context that cannot hold what it must
    ├── SettingError               exit 2   a setting that cannot be changed, or not to this value
    ├── TraceError                 exit 3   a trace cannot be read or replayed
    ├── TextError                  exit 3   a text is too short or cannot be used for what was asked
    └── ConfigurationError         exit 2   the file of a training run cannot be used
"""

from __future__ import annotations

import re
from typing import Final

_SYSTEM_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ?")


class FocusError(Exception):
    """Base class of the engine's errors.

    title: a few words, shown as a heading. message: a sentence, what happened. way_out: a sentence, what to do now (may
    be empty), worded for any front end. about: what the error is about ("lifetime", "model"), by which a front end adds
    its own command.
    """

    title = "Something went wrong in the focus engine"
    exit_code = 7
    about = ""

    def __init__(self, message: str, *, way_out: str = "", title: str | None = None, about: str = "") -> None:
        # Messages often quote the system's error, whose number helps nobody.
        message = _SYSTEM_NUMBER.sub("", message)
        super().__init__(message)
        self.message = message
        self.way_out = way_out
        if about:
            self.about = about
        if title is not None:
            self.title = title

    def __str__(self) -> str:
        return f"{self.title}: {self.message}" + (f" {self.way_out}" if self.way_out else "")


class BaseModelError(FocusError):
    """A base model cannot be used."""

    title = "The model cannot be used"
    exit_code = 5


class ModelMissingError(BaseModelError):
    """The base model was not found anywhere."""

    title = "The model is missing"


class ModelMismatchError(BaseModelError):
    """The base model was found and does not fit: its inputs, its vocabulary or its precision."""

    title = "The model does not fit"


class CheckpointError(FocusError):
    """Trained weights are missing, damaged, or were trained for another shape."""

    title = "The checkpoint cannot be used"
    exit_code = 5


class CtxError(FocusError):
    """A lifetime file contradicts itself, or was written with another model."""

    title = "The lifetime file cannot be used"
    exit_code = 4


class WindowBudgetError(FocusError):
    """The working context cannot hold what it must: the sinks, the tail and one more entry."""

    title = "The window is too small"
    exit_code = 2


class SettingError(FocusError):
    """A setting that cannot be changed, or not to this value."""

    title = "The setting cannot be used"
    exit_code = 2


class TraceError(FocusError):
    """A trace cannot be read, or its replay differs from what it recorded."""

    title = "The trace cannot be used"
    exit_code = 3


class TextError(FocusError):
    """A text is too short, or cannot be used for what was asked."""

    title = "The text cannot be used"
    exit_code = 3


class ConfigurationError(FocusError):
    """The file of a training run cannot be read, or holds a key that is unknown or out of range."""

    title = "The configuration cannot be used"
    exit_code = 2
