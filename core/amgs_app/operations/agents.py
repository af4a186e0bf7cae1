"""The agents that keep a memory: `agents status`, `pause`, `resume`, and what a runner asks: `claim`, `done`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from amgs_app.agent_states import (
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
    from amgs_app.engine import Engine

Agent = Annotated[AgentName, Arg(metavar="AGENT", help=f"One of {', '.join(AGENTS)}.")]
Holder = Annotated[str, Arg(metavar="HOLDER", help="Who runs it: a name of its own for each process.")]


@operation("agents status", summary="Show the agents that keep the memory, and who runs them.")
def status(engine: Engine) -> AgentList:
    """Show each agent with what it does, when it ran last and what came of it. `amgs agents run` runs them."""
    memory = engine.memory
    return AgentList(tuple(state_of(memory, name) for name in AGENTS), engine.clock.now())


@operation("agents pause", summary="Have an agent rest until it is resumed.", writes=True)
def pause(engine: Engine, agent: Agent) -> AgentState:
    """Stop an agent from starting another run, whoever runs it; what it is doing now it finishes."""
    return keep_state(engine.memory, replace(state_of(engine.memory, agent), paused=True))


@operation("agents resume", summary="Have a paused agent go on.", writes=True)
def resume(engine: Engine, agent: Agent) -> AgentState:
    """Let a paused agent run again when it is due."""
    return keep_state(engine.memory, replace(state_of(engine.memory, agent), paused=False))


@operation("agents claim", summary="Take the lease of an agent, if it is free.", writes=True)
def claim(
    engine: Engine,
    agent: Agent,
    holder: Holder,
    *,
    seconds: Annotated[
        float, Option("--seconds", metavar="S", min=1, max=3600, help="How long, unless it is taken anew.")
    ] = 60.0,
) -> AgentClaim:
    """Take or renew the right to run an agent. One runner has it at a time; it ends by itself, so that another goes on
    where one has crashed. It is granted when the agent is due and not paused.
    """
    memory, now = engine.memory, engine.clock.now()
    found = claimed(state_of(memory, agent), holder, now, seconds)
    if found.granted:
        keep_state(memory, found.agent)
    return found


@operation("agents done", summary="Say what came of an agent's run, and give its lease back.", writes=True)
def done(
    engine: Engine,
    agent: Agent,
    holder: Holder,
    outcome: Annotated[str, Arg(metavar="TEXT", help="What came of it.")],
    *,
    failed: Annotated[bool, Option("--failed", help="The run broke off.")] = False,
) -> AgentState:
    """Note a run under the memory's time. What it changed stands in the journal, as every change does."""
    memory = engine.memory
    state = ended(state_of(memory, agent), holder, engine.clock.now(), outcome, failed=failed)
    return keep_state(memory, state)
