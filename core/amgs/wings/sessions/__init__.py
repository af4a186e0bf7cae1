"""Review agent sessions: what a compaction dropped, what of it was needed again, what came from the cache.

It reads the files of `amgs.sessions` and stores nothing.
"""

from __future__ import annotations

from typing import Final

WING: Final = None
"""Nothing: the wing adds nothing to a memory."""
