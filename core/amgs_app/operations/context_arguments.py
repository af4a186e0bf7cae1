"""What the commands on conversations and their contexts are told."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from amgs_app.calls.marks import Arg, Default, Option
from amgs_app.operations.arguments import Configuration

Name = Annotated[str, Arg(metavar="NAME", help="The name of a conversation.")]
Handle = Annotated[str, Arg(metavar="HANDLE", help="#12 for a message, #12-15 for several.")]
StrategyName = Literal["mask", "extractive", "hybrid", "levels"]
Query = Annotated[
    str, Arg(metavar="QUERY", help="What it is read for; default: the last message of the user.")
]
Budget = Annotated[
    int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 124,000.")
]
Previous = Annotated[
    str, Option("--previous", metavar="PLAN", help="The plan of the previous context, kept while it fits.")
]
Until = Annotated[
    int | None,
    Option("--until", metavar="N", min=1, help="As it stood after message N; default: the last."),
]
Keep = Annotated[
    list[str] | None,
    Option("--keep", metavar="HANDLE", help="Messages that must stay whole; may be repeated."),
]


class ContextAsked(TypedDict):
    """What every command on contexts may be told, beside the question."""

    budget: Annotated[Budget, Default(None)]
    until: Annotated[Until, Default(None)]
    keep: Annotated[Keep, Default(None)]


class ContextGiven(ContextAsked):
    """What those on one context may be told, too."""

    strategy: Annotated[
        StrategyName | None,
        Option(
            "--strategy",
            metavar="NAME",
            help="mask, extractive, hybrid, levels; default: the configuration's.",
        ),
        Default(None),
    ]
    configuration: Annotated[Configuration, Default("default")]


def read_context(given: ContextAsked) -> dict[str, Any]:
    """What a command on contexts was told, as the memory takes it."""
    return {**given, "keep": given["keep"] or ()}
