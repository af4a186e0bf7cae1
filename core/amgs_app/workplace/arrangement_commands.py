"""Arrange the screen: `layout` and `filter`.

The arrangement is saved in the store for the next session; an export does not contain it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.panes.layout import PANES, Layout, Pane
from amgs_app.panes.row_fields import listings
from amgs_app.panes.row_filter import ListFilter, Listing, check_filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from amgs_app.session.operator import Operator

LAYOUT = "layout:"
LAST = "(last)"
"""Name of the layout that the last session left; the next session begins with it."""


LONGEST_NAME = 60


@operation(
    "layout",
    lane="turn",
    needs="write",
    summary="Arrange the panes: one large, the others beside it; save and restore arrangements.",
    example="layout frame --beside graph,decay",
)
def arrange(
    operator: Operator,
    pane: Annotated[
        Pane | None, Arg(metavar="PANE", help="The large pane; default: restore an arrangement."), Takes("pane")
    ] = None,
    *,
    beside: Annotated[
        str, Option("--beside", metavar="A,B,C", help="Up to three smaller panes shown with it where there is room.")
    ] = "",
    large: Annotated[bool, Option("--large", help="Show it full-screen.")] = False,
    theme: Annotated[
        str, Option("--theme", metavar="NAME", help="The colour theme to remember with it."), Takes("theme")
    ] = "",
    name: Annotated[
        str, Option("--name", metavar="NAME", help="A saved name; default: the arrangement of the last session.")
    ] = LAST,
    save: Annotated[bool, Option("--save", help="Save the arrangement under --name.")] = False,
    show: Annotated[bool, Option("--list", help="Change nothing: list what is saved.")] = False,
) -> Layout | results.LayoutList:
    """Arrange the panes; unless others are named, each large pane has its own companions. Without PANE, restore the
    arrangement of the last session, or the one of that --name; --save keeps the current one in this store.
    """
    if show:
        layouts = operator.engine.memory.kept(LAYOUT)
        return results.LayoutList(tuple((key.removeprefix(LAYOUT), _read(text)) for key, text in layouts.items()))
    if pane is not None:
        names = tuple(name.strip() for name in beside.split(",") if name.strip())
        wrong = [name for name in names if name not in PANES or name == pane]
        if wrong or len(names) > 3 or len(set(names)) < len(names):
            raise UsageError(
                f"{beside!r} is not a list of up to three other panes.", way_out=f"Available: {', '.join(PANES)}."
            )
        colours = theme or operator.layout.theme
        operator.layout = replace(operator.layout, pane=pane, beside=names, large=large, theme=colours)
        _save_last_layout(operator)
    if save:
        _save_layout(operator, name)
    elif pane is None:
        operator.layout = _restore_layout(operator, name)
    return operator.layout


def _restore_layout(operator: Operator, name: str) -> Layout:
    """Return a saved layout; raises UsageError for an unknown name."""
    layouts = operator.engine.memory.kept(LAYOUT)
    text = layouts.get(LAYOUT + name)
    if text is None and name != LAST:
        known = [key.removeprefix(LAYOUT) for key in layouts if key != LAYOUT + LAST]
        raise UsageError(
            f"There is no layout {name!r}.",
            way_out=f"Available: {', '.join(known)}." if known else "`layout --save --name NAME` makes one.",
        )
    layout = Layout() if text is None else _read(text)
    if name != LAST and layout.theme:
        operator.theme_name = layout.theme
    return layout


def _save_layout(operator: Operator, name: str) -> None:
    """Save the present layout under a name; raises UsageError for an invalid name."""
    if not name.strip() or name == LAST or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"A layout needs a name of at most {LONGEST_NAME} letters on one line.",
            way_out="For example `layout --save --name night`.",
        )
    operator.engine.memory.keep(LAYOUT + name, layout_to_json(operator.layout))


# --- lists ------------------------------------------------------------------------------------------------

ListPane = Annotated[Pane, Arg(metavar="PANE", help="The pane with the list."), Takes("pane")]


@operation(
    "filter",
    needs="write",
    summary="Filter and sort the rows of a pane's list.",
    synonyms=("sort", "order"),
    example="filter inbox 'confidence>0.5' --sort confidence",
    keys=("F", "O"),
)
def filter_rows(
    operator: Operator,
    pane: ListPane,
    terms: Annotated[
        list[str] | None,
        Arg(metavar="TERM", help="word, field:word, field>0.5 or !term; all must match. Default: every row."),
    ] = None,
    *,
    sort: Annotated[
        str,
        Option(
            "--sort",
            metavar="FIELD",
            help="Numbers descending, texts ascending, -FIELD the other way; default: the rows' own order.",
        ),
    ] = "",
) -> results.Sifted:
    """Show only the rows of a pane's list that match every TERM, in the order of --sort; without any, all of them in
    their own order.

    A word matches any text of the row, `reason:budget` matches one field; `score>0.5` compares; `!` negates a term.
    The fields are listed in the pane's help. Filter and order are saved with the layout.
    """
    wanted = ListFilter(tuple(terms or ()), sort.removeprefix("-"), sort.startswith("-"))
    check_filter(wanted, _listing(pane))
    others = {name: sift for name, sift in operator.layout.sifts.items() if name != pane}
    operator.layout = replace(operator.layout, sifts=others | ({pane: wanted} if wanted else {}))
    _save_last_layout(operator)
    return results.Sifted(pane, wanted)


def _save_last_layout(operator: Operator) -> None:
    """Save the layout for the next session, unless there is no memory yet."""
    if not operator.engine.lacks_memory:
        operator.engine.memory.keep(LAYOUT + LAST, layout_to_json(operator.layout))


def _listing(pane: Pane) -> Listing:
    """Return the fields of a pane's list; raises UsageError if it has none."""
    listing = listings().get(pane)
    if listing is None:
        raise UsageError(f"The {pane} pane has no list.", way_out=f"Panes with a list: {', '.join(listings())}.")
    return listing


def layout_to_json(layout: Layout) -> str:
    """Return a layout as the JSON that the store holds."""
    sifts = {
        pane: {"terms": list(sift.terms), "order": sift.order, "reverse": sift.reverse}
        for pane, sift in layout.sifts.items()
    }
    return json.dumps(
        {
            "pane": layout.pane,
            "beside": list(layout.beside),
            "large": layout.large,
            "sifts": sifts,
            "theme": layout.theme,
        }
    )


def _read(text: str) -> Layout:
    """Parse a stored layout; an unreadable one is the default layout."""
    try:
        fields = json.loads(text)
        pane, beside = fields["pane"], tuple(str(name) for name in fields["beside"])
        known = pane in PANES and all(name in PANES for name in beside)
        sifts = dict(_read_sifts(fields.get("sifts", {})))
        theme = str(fields.get("theme", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Layout()
    return Layout(pane, beside, bool(fields.get("large")), sifts, theme) if known else Layout()


def _read_sifts(filters: Mapping[str, Any]) -> Iterator[tuple[Pane, ListFilter]]:
    """Yield the stored filter and order of each pane, except those that this version cannot use."""
    for pane, values in filters.items():
        sift = ListFilter(tuple(values["terms"]), values["order"], bool(values["reverse"]))
        listing = listings().get(pane)  # any word may stand in a file
        if listing is not None:
            with suppress(UsageError):
                check_filter(sift, listing)
                yield pane, sift
