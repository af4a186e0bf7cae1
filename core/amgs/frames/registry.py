"""Check and look up frame definitions; no composite may contain itself (AMGS §4.4).

The API calls `register` before it stores a definition; everything else looks up names here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from amgs import bounds
from amgs.errors import BudgetError, FrameCycleError, UnknownFrameError, UsageError
from amgs.types import FrameDefinition

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")

Definitions = Mapping[str, FrameDefinition]
"""Registered definitions by name."""


def by_name(definitions: Iterable[FrameDefinition]) -> dict[str, FrameDefinition]:
    """Return the definitions as a mapping."""
    return {definition.name: definition for definition in definitions}


def find(name: str, known: Definitions) -> FrameDefinition:
    """Return the definition of a name in any case; raises UnknownFrameError with the names that exist."""
    definition = known.get(name.strip().upper().replace("-", "_"))
    if definition is None:
        raise UnknownFrameError(f"There is no frame {name!r}.", way_out="Frames: " + ", ".join(known) + ".")
    return definition


def register(definition: FrameDefinition, known: Definitions) -> dict[str, FrameDefinition]:
    """Return the registry with the definition in it, children before parents.

    Raises UsageError or BudgetError for a malformed definition, UnknownFrameError for a child that is not registered,
    FrameCycleError when a frame would contain itself.
    """
    check(definition)
    for child in definition.children:
        if child.name != definition.name:
            find(child.name, known)
    together = {**known, definition.name: definition}
    return {name: together[name] for name in order(together)}


def order(definitions: Definitions) -> tuple[str, ...]:
    """Return the names, children before parents and otherwise in their order; raise FrameCycleError with the cycle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, definition in definitions.items():
        sorter.add(name, *(child.name for child in definition.children))
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        # graphlib lists the cycle from child to parent.
        way = " → ".join(reversed(error.args[1]))
        raise FrameCycleError(
            f"The frames would contain each other: {way}.", way_out="Take one of them out of the children."
        ) from error


def leaves(definition: FrameDefinition, known: Definitions) -> tuple[FrameDefinition, ...]:
    """Return the atomic frames of a definition, without repeats, in the order in which they are filled."""
    if not definition.is_composite:
        return (definition,)
    definitions: dict[str, FrameDefinition] = {}
    for child in definition.children:
        definitions.update((leaf.name, leaf) for leaf in leaves(find(child.name, known), known))
    return tuple(definitions.values())


def tree(definition: FrameDefinition, known: Definitions) -> tuple[FrameDefinition, ...]:
    """Return a definition and all its descendants, without repeats."""
    definitions = {definition.name: definition}
    for child in definition.children:
        definitions.update((descendant.name, descendant) for descendant in tree(find(child.name, known), known))
    return tuple(definitions.values())


def check_budget(budget: int) -> int:
    """Return the budget (tokens); raise BudgetError where it is not positive or larger than `bounds.MOST`."""
    if type(budget) is not int or budget <= 0:
        raise BudgetError(
            f"A budget of {budget} tokens is too small to hold anything.", way_out="Give at least a few hundred."
        )
    if budget > bounds.MOST:
        raise BudgetError(
            f"A budget of {budget} tokens is too large.",
            title="The budget is too large",
            way_out=f"Give at most {bounds.MOST:,}.",
        )
    return budget


def check(definition: FrameDefinition) -> None:
    """Raise UsageError or BudgetError for a malformed definition."""
    if not _NAME.fullmatch(definition.name):
        raise UsageError(
            f"{definition.name!r} is not a frame's name.",
            way_out="Use capitals, digits and underscores, starting with a capital.",
        )
    check_budget(definition.budget)
    if not (math.isfinite(definition.refresh_hours) and definition.refresh_hours >= 0):
        raise UsageError(
            f"{definition.name} stays fresh for {definition.refresh_hours} hours.",
            way_out="Give a number of hours from 0 up.",
        )
    _check_rule(definition)
    shares = [child.share for child in definition.children]
    if any(not math.isfinite(share) or not 0 < share <= 1 for share in shares):
        raise UsageError(
            f"The children's shares of {definition.name} are {shares}.", way_out="Each must be above 0 and at most 1."
        )
    if definition.budget_strategy == "static" and sum(shares) > 1 + 1e-9:
        raise UsageError(
            f"The children of {definition.name} share {sum(shares):.0%} of its budget.",
            way_out="Static shares may sum to at most 1; or use the priority strategy.",
        )
    names = [child.name for child in definition.children]
    if len(set(names)) != len(names):
        raise UsageError(f"{definition.name} names a child twice.", way_out="Name each child once.")


def _check_rule(definition: FrameDefinition) -> None:
    """Raise UsageError where a number of the selection rule is out of range."""
    rule = definition.rule
    shares = {
        "threshold": rule.threshold,
        "similarity share": rule.similarity_share,
        "semantic threshold": definition.semantic_threshold or 0.0,
    }
    for name, value in shares.items():
        if not math.isfinite(value) or not 0 <= value <= 1:
            raise UsageError(f"The {name} of {definition.name} is {value}.", way_out="Give a value between 0 and 1.")
    if rule.pool <= 0 or rule.hops < 0 or (rule.top_k is not None and rule.top_k <= 0):
        raise UsageError(
            f"Pool {rule.pool}, hops {rule.hops} or top-k {rule.top_k} of {definition.name} is out of range.",
            way_out="Pool and top-k must be at least 1, hops at least 0.",
        )
    if rule.selection == "top_k" and rule.top_k is None:
        raise UsageError(f"{definition.name} selects the top k, but top_k is not set.", way_out="Set top_k.")
    if rule.window_hours is not None and not (math.isfinite(rule.window_hours) and rule.window_hours > 0):
        raise UsageError(
            f"A window of {rule.window_hours} hours holds nothing.", way_out="Give a positive number of hours."
        )
