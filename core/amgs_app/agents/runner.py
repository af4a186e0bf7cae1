"""Runs agents until it is stopped: for each the lease is claimed, the duty done, and what came of it noted.

A duty is a few calls of the public API, and gives a sentence of what came of them. A run that breaks off is begun anew
by whoever claims the agent next. Nothing is done twice by that: each call looks at the memory as it is then, and
changes it in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from amgs.client import MemoryClient
from amgs.errors import AmgsError, UnreachableError, UsageError
from amgs.text.plural import plural
from amgs_app.agents.states import AgentName

KINDS: Final = frozenset((".md", ".markdown", ".txt", ".rst", ".org"))
"""Endings of the files that the ingestion agent reads; `amgs ingest --batch` reads more."""
LARGEST: Final = 1_000_000
"""Characters of a file that is taken in over the API."""
FRESH: Final = ("SELF", "WORLD")
"""The frames that the attention agent keeps fresh."""


_PACKAGES: Final = frozenset({"amgs", "amgs_app"})


@dataclass(frozen=True, slots=True)
class Orders:
    """What a runner was told. watch: the folder of the ingestion agent, which rests without one. apply: whether
    enhancement carries its plan out, instead of proposing it; curation only ever proposes.
    """

    watch: Path | None = None
    apply: bool = False


def ask(client: MemoryClient, operation: str, **arguments: Any) -> Any:
    """The frozen result of any operation of the table."""
    return client.call(operation, packages=_PACKAGES, **arguments)


def ingestion(client: MemoryClient, orders: Orders) -> str:
    """Take in every note of the folder that is new, and bring those up to date that are known and say
    something else.
    """
    if orders.watch is None:
        return "no folder is watched"
    folder = orders.watch
    known = {each.name for each in ask(client, "source list", limit=100_000).sources}
    new = changed = 0
    skipped = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in KINDS or not path.is_file():
            continue
        name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            skipped.append(name)
            continue
        if not text.strip() or len(text) > LARGEST:
            skipped.append(name)
        elif name in known:
            done = ask(client, "source update", source=name, text=text)
            changed += done.operation is not None
        else:
            new += bool(client.ingest(text, source=name).added)
    told = f"{plural(new, 'new file')}, {changed} changed"
    return told + (f", {len(skipped)} not read ({', '.join(skipped[:5])})" if skipped else "")


def consolidation(client: MemoryClient, orders: Orders) -> str:
    """Work the inbox off when it is due."""
    del orders
    done = ask(client, "consolidate", if_due=True)
    if not hasattr(done, "operations"):
        return str(done.due.because)
    return f"{plural(sum(each.blocks for each in done.operations), 'block')} consolidated"


def attention(client: MemoryClient, orders: Orders) -> str:
    """Assemble the frames that are kept, so that whoever asks next gets them at once."""
    del orders
    made = [ask(client, "frame cached", name=name) for name in FRESH]
    tokens = sum(each.frame.tokens for each in made)
    return f"{', '.join(FRESH)} fresh, {tokens} tokens"


def curation(client: MemoryClient, orders: Orders) -> str:
    """Propose what may be pruned. It deletes nothing, and archives nothing."""
    del orders
    plan = ask(client, "prune", dry_run=True)
    return f"{plural(len(plan.candidates), 'block')} may be pruned: `prune --dry-run` shows them"


def enhancement(client: MemoryClient, orders: Orders) -> str:
    """Look for what could be merged, split, strengthened or cut, and for what contradicts something else."""
    done = ask(client, "enhance", dry_run=not orders.apply)
    found = ask(client, "review scan")
    told = "carried out" if orders.apply else "made"
    return (
        f"{plural(len(done.proposals), 'proposal')} {told}, {plural(len(found.items), 'finding')} to review"
    )


Duty = Callable[[MemoryClient, Orders], str]
DUTIES: Final[dict[AgentName, Duty]] = {
    "ingestion": ingestion,
    "consolidation": consolidation,
    "attention": attention,
    "curation": curation,
    "enhancement": enhancement,
}


def check_orders(orders: Orders) -> None:
    """Raises UsageError for a folder that is none."""
    if orders.watch is not None and not orders.watch.is_dir():
        raise UsageError(f"{orders.watch} is not a folder.", way_out="Give the folder to watch.")


LEASE = 900.0
"""Seconds for which an agent is claimed: longer than a run takes. Where a runner dies, another goes on after them."""


@dataclass(frozen=True)
class Runner:
    """holder: the runner's own name. say: is told what each run gave. wait: sleeps, and gives whether to go on."""

    client: MemoryClient
    holder: str
    names: Sequence[AgentName]
    orders: Orders
    say: Callable[[str], None]
    wait: Callable[[], bool] = field(default=lambda: False)

    def run(self) -> int:
        """Run whatever is due, wait, and look again, until `wait` says to end; gives how many runs there were.

        A run that fails is noted and does not stop the others; a service that is away is waited for.
        """
        runs = 0
        while True:
            try:
                runs += sum(self._one(name) for name in self.names)
            except UnreachableError as error:
                self.say(str(error))
            if not self.wait():
                return runs

    def _one(self, name: AgentName) -> bool:
        """Run an agent if it may; whether it ran."""
        claim = ask(self.client, "agents lease", agent=name, holder=self.holder, seconds=LEASE)
        if not claim.granted:
            return False
        try:
            outcome, failed = DUTIES[name](self.client, self.orders), False
        except UnreachableError:
            raise
        except AmgsError as error:
            outcome, failed = str(error), True
        ask(self.client, "agents lease", agent=name, holder=self.holder, outcome=outcome, failed=failed)
        self.say(f"{name}: {outcome}")
        return True
