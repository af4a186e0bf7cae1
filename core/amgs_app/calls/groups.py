"""Headings and descriptions of groups of commands, for `--help`, the man page and `help`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amgs_app.wing_views import views

FRONT_ENDS = "Ways to work"

PANELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{view.heading: view.words for view in views().values() if view.heading},
        "Build a memory": ("ingest", "inbox", "consolidate", "source", "import", "export"),
        "Ask it": (
            "search",
            "why",
            "diagnose",
            "test",
            "frame",
            "conversation",
            *(word for view in views().values() if not view.heading for word in view.words),
            "block",
            "entity",
            "edge",
            "select",
            "graph",
            "decay",
        ),
        "Read with a model": ("focus",),
        "Calibrate": ("feedback", "calibration", "calibrate", "metrics", "tune"),
        "Maintain": (
            "status",
            "traffic",
            "operations",
            "undo",
            "verify",
            "enhance",
            "prune",
            "review",
            "secrets",
            "simulate",
        ),
        "Screen, scripts and settings": (
            "show",
            "filter",
            "layout",
            "theme",
            "snapshot",
            "expect",
            "save",
            "settings",
            "help",
        ),
    }
)
"""First words of commands, by the heading under which help lists them."""

NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "inbox": "List blocks waiting to be consolidated, or check whether it is time.",
        "source": "Show, update, delete and watch where texts came from.",
        "block": "Show, find and correct single blocks.",
        "edge": "Add, remove and weigh edges by hand.",
        "frame": "Assemble, define and compare frames.",
        "conversation": "Keep conversations, and choose what of one a model reads.",
        **{view.words[0]: view.about for view in views().values()},
        "graph": "Explore the graph: neighbours, paths, communities, counts.",
        "decay": "Show how relevance falls, and preview other rates.",
        "secrets": "Find and mask keys, tokens and passwords that a memory holds.",
        "focus": "Run a language model over a lifetime context and steer its detail.",
    }
)
"""Description of each group of commands, by its first word; for words that are not commands themselves."""

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "demo": "demo",
        "run": "run tour.amgs --out pictures --check",
        "shell": "shell",
        "serve": "serve --port 8420",
        "gateway": "gateway --upstream https://api.openai.com --budget 16000",
        "mcp": "mcp --connect http://127.0.0.1:8420",
        "serve-web": "serve-web --port 8000",
        "token new": "token new reader --tokens tokens.json --may read",
        "agents": "agents --watch ~/notes",
    }
)
"""An example line of each command that is not an operation; operations have their own."""


def describe(words: str) -> str:
    """Return one line about the commands that begin with these words; raises KeyError for an undescribed group."""
    return NOUNS[words]
