"""The wings of this program, by name. A wing is the folders `amgs/wings/NAME`, `amgs_app/views/NAME` and, where it has
a pane, `amgs_tui/panes/NAME`. Without them and its line here the program does everything else as before.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

WINGS: Final[tuple[str, ...]] = (
    "packs",
    "sessions",
    "recorder",
)  # fmt: skip
"""The folders of the wings, in the order in which they are offered: a line each, so that any can be taken out."""


@dataclass(frozen=True, slots=True)
class Wing:
    """Contribution of a wing to a memory under its name; `WING` of its package.

    about: one sentence. part: the class of `memory.NAME`, built from a `MemoryContext`, written `MODULE:NAME` and
    imported when it is asked for.
    """

    about: str
    part: str


@cache
def wings() -> Mapping[str, Wing]:
    """Return every wing that has a part of a memory, by its name, in order; the `WING` of a wing without a part is
    None.
    """
    wings_by_name = {name: load_named(f"amgs.wings.{name}:WING") for name in WINGS}
    return {name: wing for name, wing in wings_by_name.items() if wing is not None}


def load_named(place: str) -> Any:
    """Return what stands at `MODULE:NAME`."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
