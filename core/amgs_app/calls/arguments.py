"""Types of arguments that several commands share, with their help, and the conversion of their text into values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from amgs.errors import UsageError, WeightsError
from amgs_app.calls.marks import Arg, Default, Option, Takes

if TYPE_CHECKING:
    from amgs.types import Weights
    from amgs_app.engine import Engine


Reference = Annotated[
    str | None,
    Arg(
        metavar="ID",
        help="A block: the start of its id, @3 of the last list, or its source path; else the selected one.",
    ),
    Takes("block"),
]
References = Annotated[
    list[str], Arg(metavar="ID", help="Blocks: the start of an id, or @3 of the last list."), Takes("block")
]
WeightsText = Annotated[
    str | None,
    Option(
        "--weights",
        metavar="R,C,K,S,F",
        help="Recency, centrality, confidence, similarity, reinforcement: five numbers with sum 1.",
    ),
    Takes("weights"),
]
ConfigurationName = Literal["default", "high-compression", "high-fidelity"]
Configuration = Annotated[
    ConfigurationName, Option("--configuration", metavar="NAME", help="default, high-compression or high-fidelity.")
]
Limit = Annotated[int, Option("--limit", metavar="N", min=1, help="Show at most N.")]
MostBlocks = Annotated[int | None, Option("--limit", metavar="N", min=1, help="At most N blocks.")]
Offset = Annotated[int, Option("--offset", metavar="N", min=0, help="Skip the first N.")]

DryRun = Annotated[bool, Option("--dry-run", help="Show the plan and change nothing.")]

FrameQuery = Annotated[str, Option("--query", metavar="TEXT", help="What the frame is for.")]
FrameBudget = Annotated[
    int | None, Option("--budget", metavar="N", min=1, help="Token budget; default: the frame's own.")
]
CategoryName = Annotated[str | None, Option("--category", metavar="NAME", help="What kind of knowledge it is.")]
ProfileName = Literal["ephemeral", "standard", "durable", "core"]
Profile = Annotated[
    ProfileName | None,
    Option("--profile", metavar="NAME", help="A decay profile: ephemeral, standard, durable or core."),
]
LambdaValue = Annotated[float | None, Option("--lambda", metavar="X", min=0, help="A decay constant per hour; 0 pins.")]
Lifetime = Annotated[
    Path | None,
    Option("--lifetime", metavar="DIR", help="Keep the lifetime in this folder, or continue the one it holds."),
    Takes("folder", made=True),
]
Pin = Annotated[bool, Option("--pin", help="Never decay.")]


def read_lambda(engine: Engine, profile: str | None, decay_lambda: float | None, *, pin: bool) -> float | None:
    """Return the decay constant λ per hour that the options ask for: a profile's value, 0 for --pin, None if none is
    given. Raises UsageError if more than one is.
    """
    if sum((profile is not None, decay_lambda is not None, pin)) > 1:
        raise UsageError("--profile, --lambda and --pin exclude each other.", way_out="Give one of them.")
    if profile is not None:
        return engine.settings.memory.decay.profiles.of(profile)
    return 0.0 if pin else decay_lambda


def read_weights(text: str | None, start: Weights | None = None) -> Weights | None:
    """Parse five comma-separated numbers as scoring weights.

    start: weights in effect; single parts may then be set by name, as in `recency=.3`, and the others share what is
    left of 1. Raises WeightsError or UsageError for anything else.
    """
    if text is None:
        return None
    from amgs.types import COMPONENTS, Weights

    names, signs, numbers = zip(*(part.rpartition("=") for part in text.split(",")), strict=True)
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = []
    if start is not None and all(signs) and set(names) <= set(COMPONENTS):
        if not values or not all(0 <= value <= 1 for value in values) or sum(values) > 1 + 1e-9:
            raise UsageError(
                f"{text!r} cannot be weights.",
                way_out="Give each part from 0 to 1, and at most 1 together: recency=.4.",
            )
        return hold_weights(start, dict(zip(names, values, strict=True)))
    if len(values) != len(COMPONENTS) or any(signs):
        raise WeightsError(
            f"{text!r} is not five numbers.",
            way_out=f"Give {', '.join(COMPONENTS)} in this order, such as .2,.2,.2,.2,.2.",
        )
    return Weights(*values)


def hold_weights(weights: Weights, fixed: Mapping[str, float]) -> Weights:
    """Return weights with some parts fixed and the others scaled in proportion, so that the sum stays 1."""
    from amgs.types import COMPONENTS, Weights

    others = {name: getattr(weights, name) for name in COMPONENTS if name not in fixed}
    total, left = sum(others.values()), 1 - sum(fixed.values())
    shares = {
        name: left * (min(value / total, 1.0) if total > 1e-9 else 1 / len(others)) for name, value in others.items()
    }
    return Weights(**{**shares, **fixed})


def read_categories(engine: Engine, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the categories of a filter, None for none; raises UsageError for one that is not known."""
    return engine.memory.lifecycle.find_categories(names) if names else None


def read_pair(text: str) -> tuple[str, str]:
    """Split KEY=VALUE; raises UsageError for anything else."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UsageError(f"{text!r} is not KEY=VALUE.", way_out="For example kind=dialogue.")
    return key, value


Name = Annotated[str, Arg(metavar="NAME", help="The name of a conversation.")]
Handle = Annotated[str, Arg(metavar="HANDLE", help="#12 for a message, #12-15 for several.")]
StrategyName = Literal["mask", "extractive", "hybrid", "topic", "levels", "abstractive"]
Query = Annotated[str, Arg(metavar="QUERY", help="What it is read for; default: the last message of the user.")]
Budget = Annotated[int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 124,000.")]
Previous = Annotated[
    str, Option("--previous", metavar="PLAN", help="The plan of the previous context, kept while it fits.")
]
Until = Annotated[
    int | None, Option("--until", metavar="N", min=1, help="As it stood after message N; default: the last.")
]
Keep = Annotated[
    list[str] | None, Option("--keep", metavar="HANDLE", help="Messages that must stay whole; may be repeated.")
]


Strategy = Annotated[
    StrategyName | None,
    Option(
        "--strategy",
        metavar="NAME",
        help="mask, extractive, hybrid, topic, levels, abstractive; default: the configuration's.",
    ),
]


class ContextAsked(TypedDict):
    """Arguments of every command on conversation contexts, beside the question."""

    budget: Annotated[Budget, Default(None)]
    until: Annotated[Until, Default(None)]
    keep: Annotated[Keep, Default(None)]


class ContextGiven(ContextAsked):
    """Further arguments of commands on a single conversation context."""

    strategy: Annotated[Strategy, Default(None)]
    configuration: Annotated[Configuration, Default("default")]


def read_context(options: ContextAsked) -> dict[str, Any]:
    """Return the arguments as the memory's context methods take them: no messages to keep is an empty tuple."""
    return {**options, "keep": options["keep"] or ()}
