"""The keys of the conversation pane."""

from __future__ import annotations

from typing import Any, Final

from amgs_tui.keys import quiet, shown
from amgs_tui.panes.lists import ListPane

BINDINGS: Final[list[Any]] = [
    shown("e", "ask", "question", "conversation.ask", "Change the question that the context is made for"),
    shown("b", "budget", "budget", "conversation.budget", "Change the budget, in tokens"),
    shown("r", "restore", "restore", "conversation.restore", "Put it back into the context, or let it go"),
    shown("w", "why", "why", "conversation.why", "Why it is kept or not, and the smallest change that would"),
    shown("enter", "read", "read", "conversation.read", "Read it in full, as it was said"),
    shown(
        "left_square_bracket",
        "scrub(-1)",
        "scrub",
        "conversation.earlier",
        "One message back; through the gateway: the request before",
    ),
    shown(
        "right_square_bracket",
        "scrub(1)",
        "scrub",
        "conversation.later",
        "One message on; through the gateway: the next request",
    ),
    shown("m", "single", "messages", "conversation.single", "List each message, or neighbours as one span"),
    shown(
        "a",
        "compare",
        "a/b",
        "conversation.compare",
        "Compare with another strategy at the same budget; once more: back",
    ),
    shown("f", "strategy", "strategy", "conversation.strategy", "Choose the strategy or a configuration"),
    shown("o", "choose", "open", "conversation.choose", "Choose a conversation"),
    shown("L", "live", "live", "conversation.live", "To the live end; follow the gateway"),
    quiet(
        "K",
        "keep",
        "keep",
        "conversation.keep",
        "Have every context keep it from now on, an agent's next request too; once more: no longer",
    ),
    quiet("left_curly_bracket", "scrub(-10)", "scrub", "conversation.earlier_10", "Ten back"),
    quiet("right_curly_bracket", "scrub(10)", "scrub", "conversation.later_10", "Ten on"),
    *ListPane.BINDINGS,
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
    shown("s", "exchanges", "requests", "conversation.exchanges", "Choose a request through the gateway"),
    shown(
        "v",
        "view",
        "view",
        "conversation.view",
        "Beside the spans: what was said, what survives of each class of words, topics, what is open, names",
    ),
]
