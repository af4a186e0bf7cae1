"""Two names of one person in a conversation: `conversation alike|merge`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.operations.conversation import MentionTypeName, Name

if TYPE_CHECKING:
    from amgs.types.entity_merges import AlikeNames, EntityMerge
    from amgs_app.engine import Engine


@operation(
    "conversation alike",
    summary="List names that probably belong to one person.",
    example="conversation alike standup",
)
def alike(
    engine: Engine,
    conversation: Name,
    *,
    least: Annotated[
        float,
        Option("--least", metavar="P", min=0.0, max=1.0, help="Minimum confidence, 0 to 1; default: 0.5."),
    ] = 0.5,
    limit: Limit = 50,
) -> AlikeNames:
    """List pairs of names that may be of one: a name and its first or last word, with and without a title, a short
    form, a misspelling; each with how often two such names are of one. Two who speak are never a pair.

    Nothing is changed: of a hundred pairs that it lists, about twenty are two people. `conversation merge` makes a pair
    one.
    """
    found = engine.memory.conversation.alike(conversation, least=least)
    return replace(found, pairs=found.pairs[:limit])


@operation(
    "conversation merge",
    summary="Merge two names in a conversation.",
    example="conversation merge standup Anna Ana --dry-run",
    writes=True,
)
def merge(
    engine: Engine,
    conversation: Name,
    name: Annotated[str, Arg(metavar="A", help="The name that stays.")],
    other: Annotated[str, Arg(metavar="B", help="The other name of the same.")],
    *,
    kind: Annotated[
        MentionTypeName | None,
        Option("--type", metavar="TYPE", help="The entity type, where a name has several."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would change and change nothing.")] = False,
) -> EntityMerge:
    """Have every mention of B, later ones too, mean A: in `conversation entities`, `conversation references` and
    `conversation show --resolved`, pronouns and what is B's included. The texts stay as they are.

    --dry-run shows what would change. `undo` takes it back.
    """
    return engine.memory.conversation.merge(conversation, name, other, type=kind, dry_run=dry_run)
