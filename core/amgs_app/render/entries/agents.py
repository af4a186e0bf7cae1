"""The agents that keep a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs_app.agents.states import AgentClaim, AgentList, AgentState

_AGENT_COLUMNS = "agent state last:at outcome* does*? runs:n failures:n~"


def _row(state: AgentState) -> tuple[object, ...]:
    said = "paused" if state.paused else f"run by {state.holder}" if state.holder else "resting"
    return (state.name, said, state.last, state.outcome, state.does, state.runs, state.failures or None)


def _counts(result: AgentList) -> str:
    runs = sum(bool(each.holder) for each in result.agents)
    rest = sum(each.paused for each in result.agents)
    return f"{plural(len(result.agents), 'agent')}: {runs} running, {rest} paused"


@entry(sentence=_counts)
def agent_list(result: AgentList) -> ResultTable:
    note = "`amgs agents run` runs them; `agents pause NAME` lets one rest."
    return sheet("Agents", _AGENT_COLUMNS, [_row(each) for each in result.agents], (note,))


@entry()
def agent_state(result: AgentState) -> ResultTable:
    return sheet(f"Agent {result.name}", _AGENT_COLUMNS, [_row(result)])


@entry()
def agent_claim(result: AgentClaim) -> ResultTable:
    said = "granted" if result.granted else "refused"
    return sheet(f"Agent {result.agent.name}: {said}, {result.because}", _AGENT_COLUMNS, [_row(result.agent)])
