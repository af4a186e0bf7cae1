"""What is known of the agents that keep a memory (AMGS §9), as the store itself remembers it.

An agent is run by whoever holds its lease: one runner at a time, and another as soon as the lease has run out. The
agents share nothing but the memory, and change it only through the same operations as everybody else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args

from amgs.clock import parse_instant
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.memory import Memory

AgentName = Literal["ingestion", "consolidation", "attention", "curation", "enhancement"]
AGENTS: Final[tuple[AgentName, ...]] = get_args(AgentName)

DUTIES: Final[Mapping[AgentName, str]] = {
    "ingestion": "takes in what is new or changed in a watched folder",
    "consolidation": "works the inbox off when it is full or old enough",
    "attention": "keeps the frames that are asked for fresh",
    "curation": "looks for what may be pruned, and proposes it",
    "enhancement": "looks for weak edges and near-duplicates, and for what contradicts",
}
EVERY: Final[Mapping[AgentName, timedelta]] = {
    "ingestion": timedelta(seconds=5),
    "consolidation": timedelta(minutes=1),
    "attention": timedelta(hours=1),
    "curation": timedelta(days=1),
    "enhancement": timedelta(days=7),
}
"""How long after a run the next one is due; consolidation only asks then whether the inbox is."""

_PREFIX: Final = "agent."
_LONGEST: Final = 300
"""Characters that are kept of what came of a run."""


@dataclass(frozen=True, slots=True)
class AgentState:
    """One agent. holder: who runs it, until when; empty and None while nobody does. last: when it ran last. outcome:
    what came of it. runs, failures: how often it ran, and how often that failed.
    """

    name: AgentName
    paused: bool = False
    holder: str = ""
    until: datetime | None = None
    last: datetime | None = None
    outcome: str = ""
    runs: int = 0
    failures: int = 0

    @property
    def does(self) -> str:
        return DUTIES[self.name]

    def held(self, now: datetime) -> bool:
        """Whether somebody runs it now."""
        return self.until is not None and self.until > now

    def due(self, now: datetime) -> bool:
        """Whether it should run now."""
        return not self.paused and (self.last is None or now >= self.last + EVERY[self.name])


@dataclass(frozen=True, slots=True)
class AgentList:
    """`agents status`: every agent. now: the memory's time."""

    agents: tuple[AgentState, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class AgentClaim:
    """`agents lease`: whether the holder may run the agent now, and why not."""

    agent: AgentState
    granted: bool
    because: str


def check_agents(names: Sequence[str]) -> tuple[AgentName, ...]:
    """The agents of these names, all of them for none; raises UsageError."""
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        raise UsageError(
            f"There is no agent {unknown[0]!r}.", way_out=f"The agents are: {', '.join(AGENTS)}."
        )
    return tuple(each for each in AGENTS if not names or each in names)


def state_of(memory: Memory, name: AgentName) -> AgentState:
    """What the memory remembers of an agent."""
    kept = memory.kept(_PREFIX + name).get(_PREFIX + name)
    if kept is None:
        return AgentState(name)
    told = json.loads(kept)
    for key in ("until", "last"):
        told[key] = None if told[key] is None else parse_instant(told[key])
    return AgentState(**told)


def keep_state(memory: Memory, state: AgentState) -> AgentState:
    """Have the memory remember it; gives it back."""
    told = asdict(state)
    for key in ("until", "last"):
        told[key] = None if told[key] is None else told[key].isoformat()
    memory.keep(_PREFIX + state.name, json.dumps(told))
    return state


def claimed(state: AgentState, holder: str, now: datetime, seconds: float) -> AgentClaim:
    """The agent with a lease for this holder, if it may have one: it is not paused, and nobody else runs it."""
    if state.paused:
        return AgentClaim(state, False, "it is paused")
    if state.held(now) and state.holder != holder:
        return AgentClaim(state, False, f"{state.holder} runs it until {state.until:%H:%M:%S}")
    mine = replace(state, holder=holder, until=now + timedelta(seconds=seconds))
    if not state.due(now):
        return AgentClaim(mine, False, "it is not due")
    return AgentClaim(mine, True, "it is due")


def ended(state: AgentState, holder: str, now: datetime, outcome: str, *, failed: bool) -> AgentState:
    """The agent after a run; raises UsageError where somebody else holds its lease by now."""
    if state.holder != holder:
        raise UsageError(
            f"{holder} does not run the agent {state.name}.", way_out="Take it first: `agents lease`."
        )
    return replace(
        state,
        holder="",
        until=None,
        last=now,
        outcome=outcome[:_LONGEST],
        runs=state.runs + 1,
        failures=state.failures + failed,
    )
