"""How a result is told in one line, and on a page where no pane shows it: mostly as the headless tables
tell it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from amgs_tui.headless.sheet import to_table
from amgs_tui.headless.tables import table_of
from amgs_tui.verbs.results import HelpList, Opened, Stepped, VerbHelp

if TYPE_CHECKING:
    from rich.console import RenderableType

    from amgs_focus.records import Refocus

SHORT_HELP = 6
"""Up to this many verbs are explained in full, more are listed."""


def say(result: Any) -> str:
    """What came of an action, in a few words."""
    if isinstance(result, Opened):
        view = result.view
        return f"{result.source} is open: {view.lifetime:,} tokens held in {view.used:,} of {view.window:,}"
    if isinstance(result, Stepped):
        return _stepped(result)
    return table_of(result).title


def _stepped(result: Stepped) -> str:
    """How many tokens were decoded and what the refocuses among them did."""
    made = [record.refocus for record in result.records if record.refocus is not None]
    made += [result.refocus] if result.refocus is not None else []
    parts = [f"{len(result.records)} tokens"] if result.records else []
    parts += [_refocused(made[-1])] if made else []
    return " · ".join(parts)


def _refocused(made: Refocus) -> str:
    expanded = sum(each.kind == "expand" for each in made.applied)
    collapsed = len(made.applied) - expanded
    return f"refocus {made.number}: {expanded} expanded, {collapsed} collapsed, swap {made.swap_rate:.2f}"


def page(result: Any) -> RenderableType:
    """A result in full."""
    if isinstance(result, HelpList) and len(result.verbs) <= SHORT_HELP:
        return Group(*(_explained(each) for each in result.verbs))
    return to_table(table_of(result))


def _explained(each: VerbHelp) -> RenderableType:
    text = Text()
    text.append(f"{each.usage}\n", style="bold")
    text.append(f"{each.text.rstrip()}\n")
    for label, said in each.parameters:
        text.append(f"  {label:<14} ", style="bold")
        text.append(f"{said}\n")
    return text
