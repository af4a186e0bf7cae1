"""Texts that are made of a conversation, piece by piece, and what of the conversation is in one word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

RestoreLevel = Literal["minimal", "standard", "detailed", "complete"]
RESTORE_LEVELS: tuple[RestoreLevel, ...] = get_args(RestoreLevel)
"""minimal: names, numbers and their like; standard: and the sentences that weigh most; detailed: every sentence that
holds one of them; complete: the messages.
"""

SurvivalVerdict = Literal["whole", "one handle away", "lost", "invented"]
VERDICTS: tuple[SurvivalVerdict, ...] = get_args(SurvivalVerdict)
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text that was made of messages.

    number: of the message whose characters [start, end) it is, counted in its text and, after it, its calls; 0 where it
    is no message's: a handle, a label, who speaks.
    """

    text: str
    number: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ClassSurvival:
    """What became of all numbers, or all paths, … of messages: of `there` different ones, how many stand in the window
    word for word, how many only a handle in it brings back, and how many nothing does.

    missing: the latest of those that are not in the window, with the handle of their message. invented: what the window
    has of this class and the messages do not.
    """

    kind: str
    there: int
    in_window: int
    one_handle_away: int
    lost: int
    missing: tuple[tuple[str, str], ...] = ()
    invented: tuple[str, ...] = ()

    @property
    def verdict(self) -> SurvivalVerdict:
        """The worst that befell one of the class."""
        if self.invented:
            return "invented"
        return "lost" if self.lost else "one handle away" if self.one_handle_away else "whole"


def worst(classes: Sequence[ClassSurvival]) -> SurvivalVerdict:
    """The verdict of the class that fared worst."""
    return max((one.verdict for one in classes), key=VERDICTS.index, default="whole")


@dataclass(frozen=True, slots=True)
class ConversationSurvival:
    """What of a conversation, or of the messages at a handle, is in a window, class by class.

    of: what the window is, in words. tokens: of the window; history: of the messages; both as `counter` counts.
    """

    conversation: str
    handle: str
    of: str
    classes: tuple[ClassSurvival, ...]
    tokens: int
    history: int
    counter: str
    estimated: bool

    @property
    def verdict(self) -> SurvivalVerdict:
        """The worst that befell a class; never a mean."""
        return worst(self.classes)
