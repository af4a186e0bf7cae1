"""Commands that are gone, and what to use instead.

A retired name is refused with one sentence, in the shell, in scripts, on the command line and by `help`. It stays here
for good: scripts and fingers remember it.
"""

from __future__ import annotations

from collections.abc import Sequence

RETIRED: dict[str, str] = {
    **{
        f"conversation {view}": f"use `conversation show NAME --view {view}`"
        for view in ("topics", "acts", "memories", "summary", "entities", "stats")
    },
    "conversation references": "`conversation show NAME --view mentions` says whom the words mean",
    "conversation alike": "`conversation show NAME --view entities` lists the names",
    "conversation merge": "each name is an entity of its own, as `conversation show NAME --view entities` lists them",
    "bench": "the benchmarks are run from the repository, with `python -m benchmarks NAME`",
}
"""What follows "`NAME` is gone: ", by the name: one clause without a full stop. A name of one word stands for every
command that began with it.
"""


def retired(words: Sequence[str]) -> tuple[str, int] | None:
    """The sentence about the longest retired name that opens the words, and how many words that name takes."""
    for count in range(min(3, len(words)), 0, -1):
        name = " ".join(words[:count])
        if name in RETIRED:
            return f"`{name}` is gone: {RETIRED[name]}.", count
    return None
