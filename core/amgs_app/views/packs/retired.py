"""Commands on packs that are gone, and what to use instead: see `amgs_app.calls.retired`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RETIRED: Final[Mapping[str, str]] = {
    "pack accept": "use `pack proposals --accept ID`",
    "pack course": "`pack list` says how likely each pack is needed now",
    "pack credit": "`pack judge N` says of each reading whether it was useful",
    "pack forecast": "use `pack list`, with --keep TOKENS for what would have to go",
    "pack forget": "`pack list --keep TOKENS` says which packs to give to `pack retire`",
    "pack graph": "`pack show NAME` says what links a pack to others",
    "pack habits": "`pack proposals` offers to join packs that are read together",
    "pack intent": "`pack route QUESTION` says what a question seems to ask for",
    "pack policy": "a rule makes the proposals, and `pack proposals` says why each is made",
    "pack propose": "use `pack proposals`",
    "pack reject": "use `pack proposals --reject ID`",
    "pack restore": "the sources of a learning are members beside it, as `pack show NAME` lists them",
    "pack sentences": "`pack use NAME QUESTION --prune` reads the sentences that answer",
    "pack uses": "`pack show NAME` lists when a pack was read",
}
"""What follows "`NAME` is gone: ", by the name."""
