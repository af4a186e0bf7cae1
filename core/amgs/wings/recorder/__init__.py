"""A recorder for memories of any maker: it stores OpenTelemetry spans and reports what a memory did and what of it was
useful. It uses no model and no store.
"""

from __future__ import annotations

from typing import Final

WING: Final = None
"""It adds nothing to a memory."""
