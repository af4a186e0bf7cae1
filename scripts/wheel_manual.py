"""The wheel's build hook: the man page is written from the commands of the very checkout that is built."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualHook(BuildHookInterface[Any]):
    """Puts `amgs.1` among the data of `amgs_app`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """version: "editable" for an installation that reads the checkout, which needs no copy."""
        if version == "editable":
            return
        sys.path[:0] = [str(Path(self.root) / "core"), self.root]
        from scripts import manual

        made = Path(self.root) / "build" / "docs" / "amgs.1"
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(manual.page(), encoding="utf-8")
        build_data["force_include"][str(made)] = "amgs_app/_data/amgs.1"
