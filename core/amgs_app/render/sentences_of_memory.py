"""What commands of the memory came to, in one sentence with the result in it."""

from __future__ import annotations

from typing import Any

from amgs import types
from amgs.decay import profile_name
from amgs.lifecycle.schedule import Due
from amgs_app.operations import results
from amgs_app.render.figures.format import plural
from amgs_app.render.tables.workstation import table_of

_CORRECTED = frozenset({"block set", "block pin"})


def of_memory(result: Any, verb: str) -> str:
    """The sentence; empty for a result that has none. A table's heading is one only where it counts something."""
    match result:
        case types.JournalEntry() | results.Redone():
            return table_of(result).title
        case results.SelectedBlock(block=block) if verb in _CORRECTED:
            kind = block.category or "uncategorised"
            return f"“{block.title}” is now {kind}, confidence {block.confidence:.2f}, {_decay(block)}"
        case results.SelectedBlock(block=block):
            return f"“{block.title}” is selected"
        case results.BlockDetail(block=block):
            return f"“{block.title}”: relevance {result.relevance:.2f}"
        case results.Overview(store=store):
            told = ", ".join(f"{count:,} {status}" for status, count in store.blocks.items() if count)
            return f"{told or 'No'} blocks, {store.edges:,} edges"
        case results.OperationList(operations=()):
            return "The journal is empty"
        case results.OperationList(operations=made):
            return f"{len(made):,} operations, the latest #{made[0].id} {made[0].kind}"
        case results.BookmarkList(rows=rows):
            return plural(len(rows), "bookmark")
        case results.Bookmark(kept=kept):
            return f"Bookmark {'on' if kept else 'taken off'} “{result.title}”"
        case results.FrameList(definitions=known):
            return plural(len(known), "frame")
        case results.LastFrame(frame=None):
            return "No frame was assembled yet"
        case results.Layout():
            return f"{result.pane} is the large pane"
        case results.LayoutList():
            return plural(len(result.rows), "layout")
        case results.Recording():
            return "Recording; R again saves it"
        case results.SnapshotFiles():
            return f"Wrote {', '.join(str(name) for name in result.files)}"
        case results.Sifted():
            return table_of(result).title
        case results.Shown():
            return ""
        case Due():
            return table_of(result).title
        case types.Health(lines=lines):
            act = [line.side for line in lines if line.standing == "act"]
            return f"{len(act)} areas need attention: {', '.join(act)}" if act else "Nothing needs attention"
    title = table_of(result).title
    return title if any(sign.isdigit() for sign in title) else ""


def _decay(block: types.Block) -> str:
    profile = profile_name(block.decay_lambda)
    return profile if profile == "pinned" else f"{profile} decay"
