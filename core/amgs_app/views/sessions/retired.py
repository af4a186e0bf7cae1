"""Commands on sessions that are gone: none yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RETIRED: Final[Mapping[str, str]] = {}
"""What follows "`NAME` is gone: ", by the name."""
