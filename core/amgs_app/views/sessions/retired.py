"""Commands on sessions that are gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RETIRED: Final[Mapping[str, str]] = {"find": "use `session --find WORDS`"}
"""What follows "`NAME` is gone: ", by the name."""
