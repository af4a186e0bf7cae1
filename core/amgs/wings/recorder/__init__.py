"""A recorder for anybody's memory: takes OpenTelemetry spans, keeps them, and tells what a memory did and what of it
was of use. It asks no model, and keeps nothing in a store.
"""

from __future__ import annotations

from typing import Final

WING: Final = None
"""It has no part of a memory."""
