"""The rows about packs in the table of both clients: see `amgs.client.parts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from amgs.client.derived import Request, derive

REQUESTS: Final[Mapping[str, Request]] = {
    "keep": derive("pack_keep", blocks="block", keywords="keyword"),
    "list": derive("pack_list", "packs"),
    "show": derive("pack_show"),
    "diff": derive("pack_diff"),
    "use": derive("pack_use", without=("log",)),
    "route": derive("pack_route"),
    "learn": derive("pack_learn", pack="name"),
    "assemble": derive("pack_assemble", without=("log",)),
    "judge": derive("pack_judge"),
    "weights": derive("pack_weights"),
    "proposals": derive("pack_proposals", "proposals"),
    "accept": derive("pack_proposals", "decided", proposal="accept"),
    "reject": derive("pack_proposals", "decided", proposal="reject"),
    "retire": derive("pack_retire"),
}
"""By the name on `client.packs` and on `memory.packs`."""
