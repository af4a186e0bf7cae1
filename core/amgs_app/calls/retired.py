"""Commands that are gone, and what to use instead.

A retired name is refused with one sentence, in the shell, in scripts, on the command line and by `help`. It stays here
for good: scripts and fingers remember it.
"""

from __future__ import annotations

from collections.abc import Sequence

from amgs.wing_registry import loaded
from amgs_app.wing_views import views

RETIRED: dict[str, str] = {
    **{
        f"conversation {view}": f"use `conversation show NAME --view {view}`"
        for view in ("topics", "acts", "memories", "summary", "entities", "stats")
    },
    "conversation references": "`conversation show NAME --view mentions` says whom the words mean",
    "conversation alike": "`conversation show NAME --view entities` lists the names",
    "conversation exchange": "use `conversation exchanges NUMBER`",
    "conversation merge": "each name is an entity of its own, as `conversation show NAME --view entities` lists them",
    **dict.fromkeys(
        ("agents claim", "agents done"), "use `agents lease AGENT HOLDER`, with --done TEXT at the end"
    ),
    "agents resume": "use `agents pause AGENT --off`",
    "block latest": "use `block find` without a text",
    "block pin": "use `block set ID --pin`, or --unpin",
    "decay preview": "use `decay curve ID` with --pin, --profile or --lambda",
    "diversity": "use `metrics diversity`",
    "edge confirm": "use `edge add FROM TO --confirm`",
    "frame ab": "use `tune FRAME --questions FILE --against WEIGHTS`",
    "graph causes": "what a text states as a cause is no longer read; `edge add FROM TO --kind causes` says one",
    "layout list": "use `layout use --list`",
    "layout save": "use `layout use NAME --save`",
    "operation": "use `operations ID`",
    "prune propose": "`prune --dry-run` shows what may be pruned",
    "review accept": "use `review decide ID accept`",
    "review reject": "use `review decide ID reject`",
    **dict.fromkeys(
        ("montecarlo year", "simulate"), "it is run from the repository, with `python -m benchmarks year`"
    ),
    "workers retry": "use `workers enqueue --failed`",
    **{f"focus {word}": f"use `focus steer NODE {word}`" for word in ("pin", "forbid")},
    "focus force": "use `focus steer NODE expand` or `focus steer NODE collapse`",
    "focus corpus": "use `focus open DIR`",
    "focus forgotten": "use `focus forget --list`",
    "focus branches": "use `focus switch` without a name",
    "focus last": "use `focus view` before a working context is open",
    "focus replay": "use `focus trace PATH --replay`",
    "focus stage": "it is run from the repository, with `python -m benchmarks train-gistnet CONFIG --stage`",
    "focus label": "labels are measured from the repository, with `python -m benchmarks label`",
    **{
        f"focus train {kind}": f"it is trained from the repository, with `python -m benchmarks train-{kind}`"
        for kind in ("gistnet", "lensnet", "lora", "joint")
    },
    **{
        name: told for view in views().values() if view.retired for name, told in loaded(view.retired).items()
    },
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
