"""Environment variables that libraries read while they load; set at the start of the program, for every entry point."""

from __future__ import annotations

import os

from amgs.text.torch_library import quieten_threads


def prepare_libraries() -> None:
    """Set environment variables that make libraries quiet and quick to load; values the user has set win."""
    # Libraries that load models draw their own progress bars on stderr, across the screen; ours is enough.
    os.environ.setdefault("TQDM_DISABLE", "1")
    # Pydantic would look through every installed package for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    quieten_threads()
