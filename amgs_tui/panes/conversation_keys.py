"""The keys of the conversation pane."""

from __future__ import annotations

from typing import Any, Final

from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane

BINDINGS: Final[list[Any]] = [
    show("e", "ask", "question", "conversation.ask", "Change the question that the context is made for"),
    show("b", "budget", "budget", "conversation.budget", "Change the budget, in tokens"),
    show("r", "restore", "restore", "conversation.restore", "Put it back into the context, or let it go"),
    show("w", "why", "why", "conversation.why", "Why it is kept or not, and the smallest change that would"),
    show("enter", "read", "read", "conversation.read", "Read it in full, as it was said"),
    show("left_square_bracket", "scrub(-1)", "scrub", "conversation.earlier", "One message back, or one request"),
    show("right_square_bracket", "scrub(1)", "scrub", "conversation.later", "One message on, or one request"),
    show("m", "single", "messages", "conversation.single", "List each message, or neighbours as one span"),
    show("a", "compare", "a/b", "conversation.compare", "Compare with another strategy; again: back"),
    show("f", "strategy", "strategy", "conversation.strategy", "Choose the strategy or a configuration"),
    show("o", "choose", "open", "conversation.choose", "Choose a conversation"),
    show("L", "live", "live", "conversation.live", "To the live end; follow the gateway"),
    hide("K", "keep", "keep", "conversation.keep", "Have every context keep it from now on; again: no longer"),
    hide("left_curly_bracket", "scrub(-10)", "scrub", "conversation.earlier_10", "Ten back"),
    hide("right_curly_bracket", "scrub(10)", "scrub", "conversation.later_10", "Ten on"),
    *ListPane.BINDINGS,
    hide("l", "level", "level", "conversation.level", "Read the span at a level, from findings to all"),
    hide("S", "summary", "summary", "conversation.summary", "Read a summary in its own words"),
    hide("C", "check", "check", "conversation.check", "Hold a text, as a model's summary, against the conversation"),
    hide("N", "resolve", "names", "conversation.resolve", "Read what its words mean, where that waits"),
    show("s", "exchanges", "requests", "conversation.exchanges", "Choose a request through the gateway"),
    show("v", "view", "view", "conversation.view", "What stands beside the spans: words, what survives, topics, names"),
]
