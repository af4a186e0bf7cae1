"""Names, placeholders and help of the options that every command has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SHARED_PANEL: Final = "Options of every command"
"""Heading of these options in help."""
TOKEN: Final = "AMGS_TOKEN"
"""Variable that holds the token; safer than --token, since other users can read command lines."""

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
"""Placeholder ("" for a switch) and help of each option, by name."""


def flag_of(name: str) -> str:
    """Return the flag of an option: `read_only` is `--read-only`."""
    return f"--{name.replace('_', '-')}"
