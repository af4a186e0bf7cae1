"""The agents that keep a memory: `agents status`, `pause`, and what a runner asks: `lease`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from amgs_app.agents.states import (
    AGENTS,
    AgentClaim,
    AgentList,
    AgentName,
    AgentState,
    claimed,
    ended,
    keep_state,
    state_of,
)
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.memory import Memory
    from amgs.types import HealthLine
    from amgs_app.engine import Engine

Agent = Annotated[AgentName, Arg(metavar="AGENT", help=f"One of {', '.join(AGENTS)}.")]
Holder = Annotated[str, Arg(metavar="HOLDER", help="Who runs it: a name of its own for each process.")]


def health_of_agents(memory: Memory, now: datetime) -> tuple[HealthLine, ...]:
    """How the agents fare, in one line; nothing where none ever ran."""
    from amgs.text.plural import plural
    from amgs.types import HealthLine
    from amgs_app.render.figures.format import ago

    agents = [state_of(memory, name) for name in AGENTS]
    ran = [each for each in agents if each.last is not None]
    last = max(ran, key=lambda each: each.last or now, default=None)
    if last is None or last.last is None:
        return ()
    runs, failures = sum(each.runs for each in ran), sum(each.failures for each in ran)
    every = plural(runs, "run")
    told = [f"{failures:,} of {every} failed" if failures else every, f"{last.name} {ago(last.last, now)}"]
    held = [each.name for each in agents if each.held(now)]
    told += [f"{', '.join(held)} at work"] if held else []
    resting = [each.name for each in agents if each.paused]
    told += [f"{', '.join(resting)} paused"] if resting else []
    return (HealthLine("agents", "watch" if failures else "well", ", ".join(told), "agents status"),)


@operation(
    "agents status",
    summary="Show the agents that keep the memory, and who runs them.",
    example="agents status",
)
def status(engine: Engine) -> AgentList:
    """Show each agent with what it does, when it ran last and what came of it. `amgs agents run` runs them."""
    memory = engine.memory
    return AgentList(tuple(state_of(memory, name) for name in AGENTS), engine.clock.now())


@operation(
    "agents pause",
    summary="Pause an agent, or let it go on.",
    synonyms=("resume",),
    example="agents pause ingestion",
    writes=True,
)
def pause(
    engine: Engine,
    agent: Agent,
    *,
    off: Annotated[bool, Option("--off", help="Let a paused agent run again when it is due.")] = False,
) -> AgentState:
    """Stop an agent from starting another run, whoever runs it; what it is doing now it finishes."""
    with engine.memory.transaction():
        return keep_state(engine.memory, replace(state_of(engine.memory, agent), paused=not off))


@operation(
    "agents lease",
    summary="Take the lease of an agent if it is free, or give it back with what came of the run.",
    example="agents lease ingestion here-1 --seconds 60",
    writes=True,
)
def lease(
    engine: Engine,
    agent: Agent,
    holder: Holder,
    *,
    seconds: Annotated[
        float, Option("--seconds", metavar="S", min=0.01, max=3600, help="How long, unless it is taken anew.")
    ] = 60.0,
    outcome: Annotated[
        str | None, Option("--done", metavar="TEXT", help="The run is over: what came of it.")
    ] = None,
    failed: Annotated[bool, Option("--failed", help="With --done: the run failed.")] = False,
) -> AgentClaim | AgentState:
    """Take or renew the right to run an agent. One runner has it at a time; it ends by itself, so that another goes on
    where one has crashed. It is granted when the agent is due and not paused.

    With --done the run is noted under the memory's time, and the lease is free. What the run changed stands in the
    journal, as every change does.
    """
    memory, now = engine.memory, engine.clock.now()
    with memory.transaction():  # another server may be asked at the same moment
        state = state_of(memory, agent)
        if outcome is not None:
            return keep_state(memory, ended(state, holder, now, outcome, failed=failed))
        found = claimed(state, holder, now, seconds)
        if found.granted:
            keep_state(memory, found.agent)
    return found
