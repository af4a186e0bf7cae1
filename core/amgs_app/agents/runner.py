"""Runs agents until it is stopped: for each the lease is claimed, the duty done, and what came of it noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from amgs.client import MemoryClient
from amgs.errors import AmgsError, UnreachableError
from amgs_app.agents.duties import DUTIES, Orders, ask
from amgs_app.agents.states import AgentName

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
