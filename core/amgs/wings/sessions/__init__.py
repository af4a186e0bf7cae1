"""Sessions of agents, judged: what a compaction threw away, what of it was needed again, what was cached. It reads the
files of `amgs.sessions`, and stores nothing.
"""

from __future__ import annotations

from typing import Final

WING: Final = None
"""It has no part of a memory."""
