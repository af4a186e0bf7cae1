"""What a conversation says at other lengths: a span restored at a level, a summary, a given text held against it; and
the reading of what its words mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from amgs_app import operations
from amgs_tui.keys import quiet
from amgs_tui.panes.context_choosing import ContextChoosing

RESTORE_LEVELS: Final[Mapping[str, str]] = {
    "minimal": "decisions, names, numbers, dates, paths, commands, ids",
    "standard": "the sentences that weigh most, too",
    "detailed": "every sentence that holds one of them",
    "complete": "the messages, byte for byte",
}
SUMMARY_LEVELS: Final[Mapping[str, str]] = {
    "turn": "of each turn",
    "topic": "of each topic",
    "session": "of each session",
    "cumulative": "of all",
}


class ContextReading(ContextChoosing):
    """A pane over a context whose conversation can be read in other ways."""

    BINDINGS: ClassVar[list[Any]] = [
        *ContextChoosing.BINDINGS,
        quiet("l", "level", "level", "conversation.level", "Read the span at a level, from findings to all"),
        quiet("S", "summary", "summary", "conversation.summary", "Read a summary in its own words"),
        quiet(
            "C",
            "check",
            "check",
            "conversation.check",
            "Hold a text, as a model's summary, against the conversation",
        ),
        quiet("N", "resolve", "names", "conversation.resolve", "Read what its words mean, where that waits"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "level":
            return self.span is not None
        if action in ("summary", "check", "resolve"):
            return bool(self.wish.conversation)
        return super().check_action(action, parameters)

    def action_level(self) -> None:
        """Read the span at a level that is chosen."""
        span, name = self.span, self.wish.conversation
        if span is not None:

            def read(level: Any) -> None:
                self.ask(operations.conversation.restore(name, span.handle, level=level))

            self._choose(f"{span.handle} at which level?", RESTORE_LEVELS, read)

    def action_summary(self) -> None:
        """Read a summary, at a level that is chosen."""
        name = self.wish.conversation

        def read(level: Any) -> None:
            self.ask(operations.conversation.show(name, view="summary", level=level))

        self._choose("A summary of what?", SUMMARY_LEVELS, read)

    def action_check(self) -> None:
        self._typing = "text"
        hint = "What does it say that was not said, and what does it leave out?"
        self.host.ask_line(self.NAME, "text to check", "", hint=hint)

    def answered(self, line: str) -> None:
        if self._typing != "text":
            super().answered(line)
        else:
            self.ask(operations.conversation.validate(self.wish.conversation, line))

    def action_resolve(self) -> None:
        self.ask(operations.conversation.resolve(self.wish.conversation))

    def _choose(self, title: str, levels: Mapping[str, str], then: Callable[[str], None]) -> None:
        from amgs_tui.dialogs.chooser import Choice, Chooser

        def chose(level: str | None) -> None:
            if level is not None:
                then(level)

        choices = [Choice(level, level, told) for level, told in levels.items()]
        self.app.push_screen(Chooser(title, choices), chose)
