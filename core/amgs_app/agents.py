"""The five agents of AMGS §9: schedules of calls to the public API of a served memory.

Nothing is done twice where two programs run them or one is killed: each call looks at the memory as it is then, and
changes it in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amgs.client import MemoryClient
from amgs.errors import AmgsError, UnreachableError, UsageError
from amgs.text.plural import plural

ENDINGS: Final = frozenset((".md", ".markdown", ".txt"))
"""Endings of the files that the ingestion agent reads; `amgs ingest --batch` reads more."""
LARGEST: Final = 1_000_000
"""Characters of a file that is taken in over the API."""
FRESH: Final = ("SELF", "WORLD")
"""The frames that the attention agent keeps fresh."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders to the agents.

    watch: the folder of the ingestion agent, which rests without one. apply: whether enhancement carries its plan out,
    instead of proposing it.
    """

    watch: Path | None = None
    apply: bool = False


def ask(client: MemoryClient, operation: str, **arguments: Any) -> Any:
    """Call any operation of the table; gives its frozen result."""
    return client.call(operation, exact=True, **arguments)


def ingest(client: MemoryClient, orders: Orders) -> str:
    """Take in every note of the folder that is new, and bring up to date what is known and says something else."""
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
    """Consolidate the inbox when it is due."""
    done = ask(client, "consolidate", if_due=True)
    if not hasattr(done, "operations"):
        return str(done.due.because)
    return f"{plural(sum(entry.blocks for entry in done.operations), 'block')} consolidated"


def attend(client: MemoryClient, _: Orders) -> str:
    """Assemble the frames that are kept, so that whoever asks next gets them at once."""
    tokens = sum(ask(client, "frame cached", name=name).frame.tokens for name in FRESH)
    return f"{', '.join(FRESH)} fresh, {tokens} tokens"


def curate(client: MemoryClient, _: Orders) -> str:
    """Look for what may be pruned; prune nothing."""
    plan = ask(client, "prune", dry_run=True)
    return f"{plural(len(plan.candidates), 'block')} may be pruned: `prune --dry-run` shows them"


def enhance(client: MemoryClient, orders: Orders) -> str:
    """Look for what could be merged, split, strengthened or cut, and for what contradicts something else."""
    done = ask(client, "enhance", apply=orders.apply)
    review = ask(client, "review", scan=True)
    verb = "carried out" if orders.apply else "made"
    return f"{plural(len(done.proposals), 'proposal')} {verb}, {plural(len(review.items), 'finding')} to review"


@dataclass(frozen=True, slots=True)
class Schedule:
    """every: seconds from the start of a run to the next. duty: gives a sentence of what came of it."""

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
    """Run the agents of these names, all of them for none, whenever they are due; gives how many runs there were.

    now: seconds of a clock. say: is told what each run gave. wait: sleeps, and gives whether to go on. A run that fails
    does not stop the others; a service that is away is waited for. Raises UsageError for an agent or a folder that is
    none.
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
