"""The five background agents of AMGS §9: schedules of calls to the public API of a served memory.

`amgs agents` runs them. Each call reads the memory's present state and changes it in a single transaction, so that
nothing is done twice where two programs run them or a program is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amgs.client import MemoryClient
from amgs.errors import AmgsError, UnreachableError, UsageError
from amgs.text.words import plural

ENDINGS: Final = frozenset((".md", ".markdown", ".txt"))
"""Endings of the files that the ingestion agent reads; `amgs ingest --batch` reads more."""
LARGEST: Final = 1_000_000
"""Most characters of a file that the ingestion agent sends; larger files are skipped."""
FRESH: Final = ("SELF", "WORLD")
"""The frames that the attention agent assembles ahead of need."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Options of the agents.

    watch: the folder that the ingestion agent reads; None for no ingestion. apply: let the enhancement agent apply its
    plan instead of only proposing it.
    """

    watch: Path | None = None
    apply: bool = False


def ask(client: MemoryClient, operation: str, **arguments: Any) -> Any:
    """Call any operation by name and return its frozen result."""
    return client.call(operation, exact=True, **arguments)


def ingest(client: MemoryClient, orders: Orders) -> str:
    """Ingest the new notes of the watched folder and update those whose text has changed; return a
    sentence about it.
    """
    if orders.watch is None:
        return "no folder is watched"
    folder = orders.watch
    known = {source.name for source in ask(client, "source list", limit=100_000).sources}
    new = changed = 0
    skipped = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            text = ""
        if not text.strip() or len(text) > LARGEST:
            skipped.append(name)
        elif name in known:
            changed += ask(client, "source update", source=name, text=text).operation is not None
        else:
            new += bool(client.ingest(text, source=name).added)
    summary = f"{plural(new, 'new file')}, {changed} changed"
    return summary + (f", {len(skipped)} not read ({', '.join(skipped[:5])})" if skipped else "")


def consolidate(client: MemoryClient, _: Orders) -> str:
    """Consolidate the inbox if it is due; return a sentence about it."""
    done = ask(client, "consolidate", if_due=True)
    if not hasattr(done, "operations"):
        return str(done.due.because)
    return f"{plural(sum(entry.blocks for entry in done.operations), 'block')} consolidated"


def attend(client: MemoryClient, _: Orders) -> str:
    """Assemble the cached frames, so that the next request is answered at once; return a sentence about it."""
    tokens = sum(ask(client, "frame cached", name=name).frame.tokens for name in FRESH)
    return f"{', '.join(FRESH)} fresh, {tokens} tokens"


def curate(client: MemoryClient, _: Orders) -> str:
    """Count the blocks that may be pruned, and prune nothing; return a sentence about it."""
    plan = ask(client, "prune", dry_run=True)
    return f"{plural(len(plan.candidates), 'block')} may be pruned: `prune --dry-run` shows them"


def enhance(client: MemoryClient, orders: Orders) -> str:
    """Propose (or apply) merges, splits and edge changes, and scan for contradictions; return a sentence about it."""
    done = ask(client, "enhance", apply=orders.apply)
    review = ask(client, "review", scan=True)
    verb = "carried out" if orders.apply else "made"
    return f"{plural(len(done.proposals), 'proposal')} {verb}, {plural(len(review.items), 'finding')} to review"


@dataclass(frozen=True, slots=True)
class Schedule:
    """every: seconds between the starts of two runs. duty: does the work and returns a sentence about it."""

    every: float
    duty: Callable[[MemoryClient, Orders], str]


SCHEDULES: Final[Mapping[str, Schedule]] = {
    "ingestion": Schedule(5, ingest),
    "consolidation": Schedule(60, consolidate),
    "attention": Schedule(3600, attend),
    "curation": Schedule(86400, curate),
    "enhancement": Schedule(7 * 86400, enhance),
}


def run(
    client: MemoryClient,
    names: Sequence[str],
    orders: Orders,
    *,
    now: Callable[[], float],
    say: Callable[[str], None],
    wait: Callable[[], bool],
) -> int:
    """Run the named agents whenever they are due (all if none is named); return the number of runs.

    now: seconds of a clock. say: receives a line per run. wait: sleeps, and returns whether to continue. A failing run
    does not stop the others; if the service cannot be reached, the agents wait for it. Raises UsageError for an unknown
    agent or a `watch` that is not a folder.
    """
    unknown = [name for name in names if name not in SCHEDULES]
    if unknown:
        raise UsageError(f"There is no agent {unknown[0]!r}.", way_out=f"The agents are: {', '.join(SCHEDULES)}.")
    if orders.watch is not None and not orders.watch.is_dir():
        raise UsageError(f"{orders.watch} is not a folder.", way_out="Give the folder to watch.")
    due = {name: now() for name in SCHEDULES if not names or name in names}
    runs = 0
    while True:
        for name in [name for name, at in due.items() if at <= now()]:
            schedule, began = SCHEDULES[name], now()
            try:
                say(f"{name}: {schedule.duty(client, orders)}")
            except UnreachableError as error:
                say(str(error))
                break
            except AmgsError as error:
                say(f"{name} failed: {error}")
            due[name] = began + schedule.every
            runs += 1
        if not wait():
            return runs
