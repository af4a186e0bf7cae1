"""What the operator tells the working context: `focus steer`, `measure`, `set`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.results.focus import Measured, SettingChanged, Steered

if TYPE_CHECKING:
    from amgs_app.engine import Engine
    from amgs_focus.records import NodeRef
    from amgs_focus.runtime.runtime import FocusRuntime

Node = Annotated[
    str,
    Arg(metavar="NODE", help="A span's number in the working context, or its name, such as L1#20."),
]

_NAMED = re.compile(r"[lL](\d+)#(\d+)")


@operation(
    "focus steer",
    lane="model",
    needs="operate",
    summary="Pin, forbid, expand or collapse a span.",
    synonyms=("pin", "forbid", "force", "override"),
    example="focus steer L1#20 pin",
    pane="focus",
    writes=True,
)
def steer(
    engine: Engine,
    node: Node,
    action: Annotated[
        Literal["pin", "forbid", "expand", "collapse"],
        Arg(metavar="ACTION", help="pin, forbid, expand or collapse."),
    ],
    *,
    release: Annotated[bool, Option("--release", help="Take it back.")] = False,
) -> Steered:
    """Overrule the scores for a span; budget, tail and levels still apply.

    pin keeps it at least this fine, forbid as coarse as it is, until released; only a completely full window overrides
    a pin. expand and collapse are done once. A span collapses together with its siblings into the gist above them; a
    gist that is not in the window can be named directly. Takes effect at the next refocus. After `focus back` it begins
    a branch.
    """
    from amgs_focus.records import parent_of

    runtime = engine.focus
    named = node_of(runtime, node)
    if action == "collapse" and runtime.context.position(named) is not None:
        named = parent_of(named, runtime.settings.block_size)
    before = runtime.state.allocator.overrides.get(named)
    if release and before != action:
        raise UsageError(
            f"{named} has no {action!r} to release.",
            way_out=f"It has {before!r}." if before else "It is neither pinned nor forbidden.",
        )
    view = runtime.override(named, None if release else action)
    in_tail = runtime.tree.span(named)[1] > runtime.context.tail_start
    return Steered(str(named), action, release, view, in_tail)


@operation(
    "focus measure",
    lane="model",
    needs="operate",
    summary="Measure what a span's detail is worth, by ΔNLL.",
    example="focus measure 3",
    pane="focus",
    long=True,
    writes=True,
)
def measure(
    engine: Engine,
    entry: Annotated[
        str,
        Arg(
            metavar="POSITION",
            help="The span's number in the working context, from 0, or its name, such as L1#20.",
        ),
    ],
) -> Measured:
    """Compute the context with the span coarse and with it fine, and compare the NLL of what follows.

    Exact, over the last `horizon` tokens; positive means the detail helps. The trace keeps it as a label.
    """
    runtime = engine.focus
    found = runtime.measure(runtime.place(node_of(runtime, entry)))
    return Measured(found, runtime.snapshot())


@operation(
    "focus set",
    lane="model",
    needs="operate",
    summary="Change a focus setting from here on.",
    example="focus set window 512",
    pane="focus",
    writes=True,
)
def change(
    engine: Engine,
    key: Annotated[str, Arg(metavar="KEY", help="tau_expand, n_diff, window, cadence, policy, …")],
    value: Annotated[str, Arg(metavar="VALUE", help="The new value.")],
) -> SettingChanged:
    """Change τ, N_diff, W_max, the cadence, the policy and others for this lifetime, from this step on.

    An unknown key lists the valid ones. Stepping back restores the old value. After `focus back` it begins a branch.
    """
    runtime = engine.focus
    before = getattr(runtime.settings, key, "")
    view = runtime.configure(key, value)
    return SettingChanged(key, str(before), str(getattr(runtime.settings, key)), view)


def node_of(runtime: FocusRuntime, text: str) -> NodeRef:
    """The node that a word names; raises UsageError, or FocusError, when there is none."""
    from amgs_focus.records import NodeRef

    if text.isdigit():
        return runtime.context.entries()[runtime.place(int(text))].node
    named = _NAMED.fullmatch(text)
    if named is None:
        raise UsageError(
            f"Invalid node: {text!r}.", way_out="Give an entry's number, or a level and index such as L1#20."
        )
    node = NodeRef(int(named[1]), int(named[2]))
    if not runtime.tree.exists(node):
        raise UsageError(f"There is no {node} in this lifetime.", way_out="`focus view` shows what there is.")
    return node
