"""The options of every command: what they are called, what they take, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SHARED_PANEL: Final = "Options of every command"
"""What they stand under in a help."""
TOKEN: Final = "AMGS_TOKEN"
"""The variable that holds the token where no option gives it; other users see what stands on a command line."""

SHARED_OPTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "store": (
            "PATH",
            "The store, a file or postgresql://…; by default that of --corpus, else your own memory once you have one, "
            "else the sample.",
        ),
        "corpus": ("DIR", "A folder of notes with its own store."),
        "model": ("ID", "smollm2 (default), a path, a cached hub id, or tiny for no real model."),
        "now": ("ISO", "Freeze the clock at this instant, for reproducible runs."),
        "seed": ("N", "Random seed; 0 by default."),
        "theme": ("NAME", "Colour theme of the screen and of snapshots."),
        "format": ("table|json|csv", "Output format; table by default."),
        "settings": ("FILE", "A TOML file of settings."),
        "connect": ("URL", "A served memory, instead of a store: http://127.0.0.1:8420."),
        "token": ("TOKEN", f"The token for --connect; better in {TOKEN}."),
        "read_only": ("", "Open the store for reading: nothing is written to it."),
    }
)
"""By name, what each takes ("" for a switch) and what it does."""


def flag_of(name: str) -> str:
    """Return how an option is typed: `read_only` is `--read-only`."""
    return f"--{name.replace('_', '-')}"
