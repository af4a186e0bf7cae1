"""What the operator arranges around the memory: `bookmark`, `bookmarks`, `layout …`.

It is remembered in the store, beside the memory: another session finds it again, an export does not carry it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from amgs.errors import UsageError
from amgs_tui.verbs.registry import PANES, Pane, Takes, verb
from amgs_tui.verbs.results import Bookmark, BookmarkList, Layout, LayoutList

if TYPE_CHECKING:
    from amgs_tui.session import Session

BOOKMARK, LAYOUT = "bookmark:", "layout:"
LAST = "(last)"
"""The layout that a session left behind; the next one begins with it."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="A word of your own.")]


@verb("bookmark", summary="Put a bookmark on a block, or take it off.", keys=("asterisk",))
def bookmark(
    session: Session,
    block: Annotated[
        str | None, typer.Argument(metavar="ID", help="The block; the selected one."), Takes("block")
    ] = None,
    *,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
) -> Bookmark:
    """Put a bookmark on a block; on one that has a bookmark, without a note, take it off."""
    found = session.block(block)
    name = BOOKMARK + found.id
    here = bool(session.memory.kept(name))
    keep = bool(note) or not here
    session.memory.keep(name, note if keep else None)
    return Bookmark(found.id, found.title, note, keep)


@verb("bookmarks", summary="List the blocks with a bookmark.", keys=("apostrophe",))
def bookmarks(session: Session) -> BookmarkList:
    """List the blocks with a bookmark, by title; `@1` is the first of them in the verbs that follow."""
    kept = session.memory.kept(BOOKMARK)
    found = [(session.memory.block(name.removeprefix(BOOKMARK)), note) for name, note in kept.items()]
    rows = sorted((Bookmark(block.id, block.title, note) for block, note in found), key=lambda row: row.title)
    session.listed = tuple(row.block for row in rows)
    return BookmarkList(tuple(rows))


@verb("layout set", summary="Arrange the panes: the large one and those beside it.")
def layout_set(
    session: Session,
    pane: Annotated[Pane, typer.Argument(metavar="PANE", help="The large one."), Takes("pane")],
    *,
    beside: Annotated[
        str,
        typer.Option(
            "--beside", metavar="A,B,C", help="Up to three that stand under it where there is room."
        ),
    ] = "",
    large: Annotated[bool, typer.Option("--large", help="Give it the whole screen.")] = False,
) -> Layout:
    """Arrange the panes. Where nothing is said of the others, each large pane has its own companions."""
    names = tuple(name.strip() for name in beside.split(",") if name.strip())
    wrong = [name for name in names if name not in PANES or name == pane]
    if wrong or len(names) > 3 or len(set(names)) < len(names):
        raise UsageError(
            f"{beside!r} does not name up to three other panes.", way_out=f"There are: {', '.join(PANES)}."
        )
    session.layout = Layout(pane, names, large)
    session.memory.keep(LAYOUT + LAST, _written(session.layout))
    return session.layout


@verb("layout save", summary="Keep the present arrangement under a name.")
def layout_save(session: Session, name: Name) -> Layout:
    """Keep the present arrangement of the panes under a name, in this store."""
    if not name.strip() or name == LAST:
        raise UsageError("A layout needs a name.", way_out="For example `layout save night`.")
    session.memory.keep(LAYOUT + name, _written(session.layout))
    return session.layout


@verb("layout use", summary="Arrange the panes as kept under a name.")
def layout_use(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="As it was saved; none for how the screen was left last.")
    ] = LAST,
) -> Layout:
    """Arrange the panes as `layout save NAME` kept them."""
    kept = session.memory.kept(LAYOUT)
    text = kept.get(LAYOUT + name)
    if text is None and name != LAST:
        known = [each.removeprefix(LAYOUT) for each in kept if each != LAYOUT + LAST]
        raise UsageError(
            f"There is no layout {name!r}.",
            way_out=f"There are: {', '.join(known)}." if known else "`layout save NAME` makes one.",
        )
    session.layout = Layout() if text is None else _read(text)
    return session.layout


@verb("layout list", summary="List the kept arrangements.")
def layout_list(session: Session) -> LayoutList:
    """List the arrangements kept in this store."""
    kept = session.memory.kept(LAYOUT).items()
    return LayoutList(tuple((name.removeprefix(LAYOUT), _read(text)) for name, text in kept))


def _written(layout: Layout) -> str:
    return json.dumps({"pane": layout.pane, "beside": list(layout.beside), "large": layout.large})


def _read(text: str) -> Layout:
    """A kept arrangement; one that another version wrote otherwise counts as the first arrangement."""
    try:
        given = json.loads(text)
        pane, beside = given["pane"], tuple(str(name) for name in given["beside"])
        known = pane in PANES and all(name in PANES for name in beside)
    except (ValueError, KeyError, TypeError):
        return Layout()
    return Layout(pane, beside, bool(given.get("large"))) if known else Layout()
