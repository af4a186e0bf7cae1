"""What the conversation pane lets an operator choose from: conversations, strategies, levels, requests of agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app.render.figures.format import ago
from amgs_tui.panes.context_wish import CONFIGURATIONS, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from textual.app import App

    from amgs.types.conversation import ConversationSummary
    from amgs.types.gateway import GatewayExchange
    from amgs_tui.panes.context_wish import ContextWish

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


def choose_level(app: App[Any], title: str, levels: Mapping[str, str], then: Callable[[str], None]) -> None:
    """One of the names, each with what it contains."""
    from amgs_tui.dialogs.chooser import Choice, Chooser

    def chose(level: str | None) -> None:
        if level is not None:
            then(level)

    app.push_screen(Chooser(title, [Choice(level, level, told) for level, told in levels.items()]), chose)


def choose_strategy(app: App[Any], wish: ContextWish, want: Callable[..., None]) -> None:
    """A strategy, or a configuration, which brings its own."""
    from amgs.types.conversation import CONTEXT_CONFIGURATIONS, CONTEXT_STRATEGIES
    from amgs_tui.dialogs.chooser import Choice, Chooser

    here = wish.configuration
    choices = [
        Choice(name, name, STRATEGIES[name], marked=here == "default" and name == wish.strategy)
        for name in CONTEXT_STRATEGIES
    ]
    choices += [Choice(each, each, told, marked=each == here) for each, told in CONFIGURATIONS.items()]
    brought = {each: CONTEXT_CONFIGURATIONS[each].strategy for each in CONFIGURATIONS}

    def chose(name: str | None) -> None:
        if name in brought:
            want(configuration=name, strategy=brought[name], other=None)
        elif name is not None:
            want(configuration="default", strategy=name, other=None)

    app.push_screen(Chooser("Which strategy, or which configuration?", choices), chose)


def choose_other(app: App[Any], wish: ContextWish, want: Callable[..., None]) -> None:
    """A strategy to compare with."""
    others: dict[str, str] = {name: told for name, told in STRATEGIES.items() if name != wish.strategy}
    choose_level(app, f"Compare {wish.strategy} with", others, lambda name: want(other=name))


def choose_conversation(
    app: App[Any],
    held: Sequence[ConversationSummary],
    wish: ContextWish,
    now: datetime,
    want: Callable[..., None],
) -> None:
    """One of the conversations that are held."""
    from amgs_tui.dialogs.chooser import Choice, Chooser

    choices = [
        Choice(
            one.name,
            one.name,
            plural(one.messages, "message") + (f", {ago(one.last, now)}" if one.last is not None else ""),
            marked=one.name == wish.conversation,
        )
        for one in held
    ]

    def chose(name: str | None) -> None:
        if name is not None:
            want(conversation=name, query="", until=None, keep=())

    app.push_screen(Chooser("Which conversation?", choices), chose)


def choose_exchange(
    app: App[Any], every: Sequence[GatewayExchange], here: int, then: Callable[[int], None]
) -> None:
    """A request through the gateway. here: the number of the one that is looked at."""
    from amgs_tui.dialogs.chooser import Choice, Chooser

    choices = [
        Choice(
            str(one.number),
            f"{one.number} {one.asked}",
            f"{one.tokens:,} of {one.tokens_before:,} tok" if one.tokens else one.untouched,
            marked=one.number == here,
        )
        for one in every
    ]

    def chose(number: str | None) -> None:
        if number is not None:
            then(int(number))

    app.push_screen(Chooser("Which request?", choices), chose)
