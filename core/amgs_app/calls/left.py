"""Commands of earlier versions, and the line that replaces each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

LEFT: Mapping[str, str] = MappingProxyType(
    {
        "block latest": "block find",
        "block note": 'block set ID --note "…"',
        "block pin": "block set ID --pin",
        "block tag": "block set ID --tag TAG",
        "bookmark": "block set ID --meta marked=yes",
        "bookmarks": "block find --meta marked=yes",
        "consolidate apply": "consolidate --draft",
        "conversation compare": "conversation show NAME --view compare",
        "conversation survival": "conversation show NAME --view survival",
        "conversation validate": 'conversation show NAME --view survival --text "…"',
        "decay categories": "decay curve",
        "edge add": "edge set",
        "edge apply": "edge set",
        "edge edit": "edge set",
        "fix": "diagnose … --apply",
        "frame replay": "frame history",
        "frame reset": "frame delete NAME",
        "frame show": "frame list NAME",
        "graph centrality": "graph inspect ID",
        "graph communities": "graph stats --communities",
        "health": "status",
        "inbox due": "inbox list --due",
        "layout save": "layout --save --name NAME",
        "layout use": "layout --name NAME",
        "montecarlo": "simulate",
        "pack diff": "pack list NAME@VERSION",
        "pack judge": "pack outcome N --score X",
        "pack learn": "pack outcome N --score X",
        "pack proposals": "pack change",
        "pack retire": "pack change DELETE NAME",
        "pack route": 'pack assemble "…"',
        "pack show": "pack list NAME",
        "pack use": 'pack assemble "…" --pack NAME',
        "pack weights": 'pack assemble "…" --layers weights',
        "question add": "test FILE --add",
        "replay": "session ID --view regret",
        "report": "status --html FILE",
        "report session": "session ID --html FILE",
        "review accept": "review --accept ID",
        "review decide": "review --accept ID",
        "review reject": "review --reject ID",
        "review scan": "review --scan",
        "searches": "why ID --search N",
        "sort": "filter PANE --sort FIELD",
        "source show": "source list NAME --pieces",
    }
)
"""The present line, by the first words of the former one."""


def say_left(words: Sequence[str]) -> str:
    """Say how a former command is written now; "" for words that are not a former command."""
    for name in (" ".join(words[:2]), *words[:1]):
        if name in LEFT:
            return say_now(name, LEFT[name])
    return ""


def say_now(before: str, now: str) -> str:
    """Return a sentence: `before` is now `now`."""
    return f"`{before}` is now `{now}`."
