"""ATIF, the Agent Trajectory Interchange Format: one JSON document a run, written by Harbor and by exporters of agents.

A record is a step: of the system, of the user, or of the agent with its reasoning, its calls and what they gave back. A
compaction is a step of the system with `extra.context_management`; its observation is the summary. Trajectories of
subagents lie in `subagent_trajectories` from version 1.7 on, or in files of their own, which are not read.

Source: RFC 0001 of the Harbor project.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import SessionBuilder, SessionFormat
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    content_text,
    count,
    document_at,
    fields,
    instant,
    items,
    text,
    usage_with_cache,
)
from amgs.sessions.turn import Boundary, Place, Session, Turn
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_DEEPEST: Final = 8
"""Deepest nesting of trajectories that is read."""


class _Reading(SessionBuilder):
    def __init__(self, path: Path) -> None:
        super().__init__("ATIF", "atif", path)
        self._records = 0
        self._last: dict[str, Usage] = {}
        """Tokens of each agent's last request."""
        self._opened: dict[str, Turn] = {}
        """A compaction of each agent, until its next request."""

    def trajectory(self, whole: Record, agent: str, depth: int = 0) -> None:
        """Read the steps of a trajectory, then those of the trajectories within it. agent: empty for the outermost."""
        steps = whole.get("steps")
        for step in steps if isinstance(steps, list) else []:
            self._records += 1
            place = Place(self._records)
            if not isinstance(step, dict):
                self.fail(Line(place, None, "not an object"))
                continue
            before = len(self.turns)
            self._step(step, place, agent)
            if len(self.turns) == before:
                self.note(f"step: {text(step.get('source')) or 'without a source'}")
        for number, inner in enumerate(items(whole.get("subagent_trajectories")), 1):
            name = text(inner.get("trajectory_id")) or text(inner.get("session_id")) or f"subagent {number}"
            if depth < _DEEPEST:
                self.trajectory(inner, name, depth + 1)
            else:
                self._records += 1
                self.note("trajectory nested too deeply")

    def _step(self, step: Record, place: Place, agent: str) -> None:
        source = text(step.get("source"))
        common: dict[str, Any] = {"at": instant(step.get("timestamp")), "id": f"step {place.line}", "agent": agent}
        message = content_text(step.get("message"))
        managed = fields(fields(step.get("extra")).get("context_management"))
        if managed:
            self._boundary(step, managed, place, common, message)
        elif source == "agent":
            self._agent(step, place, common, message)
        elif source == "user" and message:
            self.turn(place, "user", "said", message, **common)
        elif source == "system" and message:
            first = not any(turn.agent == agent for turn in self.turns)
            self.turn(place, "system", "said" if first else "injected", message, **common)
            if first and not agent:
                self.know(system=message)
        if source in ("system", "user") and not managed:
            self._results(step, place, common)

    def _agent(self, step: Record, place: Place, common: dict[str, Any], message: str) -> None:
        agent = common["agent"]
        if not agent:
            self.know(model=text(step.get("model_name")))
        usage = _usage(fields(step.get("metrics")))
        if usage.window:
            self._last[agent] = usage
            if opened := self._opened.pop(agent, None):
                mark = opened.boundary or Boundary()
                after = Boundary(mark.trigger, mark.before, usage.window, (), mark.dropped, mark.whole)
                self.change(opened, boundary=after)
        more = {**common, "usage": usage if usage.window else None, "request": f"step {place.line}"}
        self.say(place, "assistant", "thinking", content_text(step.get("reasoning_content")), **more)
        self.say(place, "assistant", "said", message, **more)
        for call in items(step.get("tool_calls")):
            name, arguments = text(call.get("function_name")), as_json(call.get("arguments"))
            tool_call = ToolCall(text(call.get("tool_call_id")), name, arguments)
            self.turn(place, "assistant", "call", "", (tool_call,), **more)
        self._results(step, place, common)

    def _results(self, step: Record, place: Place, common: dict[str, Any]) -> None:
        """Read the results, of calls and of the environment's own actions."""
        for result in items(fields(step.get("observation")).get("results")):
            extra = fields(result.get("extra"))
            failed = extra.get("is_error") is True or text(extra.get("status")) in ("error", "failed")
            output = content_text(result.get("content"))
            refs = [
                text(
                    trajectory.get("trajectory_id") or trajectory.get("trajectory_path") or trajectory.get("session_id")
                )
                for trajectory in items(result.get("subagent_trajectory_ref"))
            ]
            output = "\n".join([output, *(f"[subagent {ref}]" for ref in refs if ref)]).strip()
            answers = text(result.get("source_call_id"))
            if output or answers:
                self.turn(place, "tool", "result", output, answers=answers, failed=failed, **common)

    def _boundary(self, step: Record, managed: Record, place: Place, common: dict[str, Any], message: str) -> None:
        """Add a boundary: a compaction replaces all before it; another management of the window drops a part."""
        whole = text(managed.get("type")) in ("", "compaction") and managed.get("boundary") in (None, "replace")
        last = self._last.get(common["agent"])
        results = items(fields(step.get("observation")).get("results"))
        dropped = tuple(call_id for result in results if (call_id := text(result.get("source_call_id"))))
        mark = Boundary(
            text(managed.get("trigger")),
            last.window + last.output if last else None,
            None,
            (),
            () if whole else dropped,
            whole,
        )
        self._opened[common["agent"]] = self.turn(place, "system", "boundary", message, boundary=mark, **common)
        for result in results if whole else ():
            self.say(place, "assistant", "summary", content_text(result.get("content")), **common)


def _usage(metrics: Record) -> Usage:
    """Return the tokens of a request; `prompt_tokens` include the cached ones."""
    written = fields(metrics.get("extra")).get("cache_creation_input_tokens")
    output, cached = count(metrics.get("completion_tokens")), metrics.get("cached_tokens")
    return usage_with_cache(metrics.get("prompt_tokens"), output, cached, written)


def read(path: Path) -> Session:
    """Return the trajectory in a file; see the module. Raises InputError for a file that cannot be read or is no
    JSON.
    """
    whole = fields(document_at(path))
    if not isinstance(whole.get("steps"), list):
        raise InputError(f"{path} has no steps.", way_out="Give a trajectory in ATIF.")
    reading = _Reading(path)
    agent = fields(whole.get("agent"))
    extra = fields(whole.get("extra"))
    reading.know(
        id=text(whole.get("session_id")) or text(whole.get("trajectory_id")),
        version=" ".join(filter(None, (text(agent.get("name")), text(agent.get("version"))))),
        project=text(extra.get("cwd")),
        tools=as_json(agent["tool_definitions"]) if agent.get("tool_definitions") else "",
    )
    reading.trajectory(whole, "")
    reading.know(model=text(agent.get("model_name")))
    return reading.session()


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a document names itself ATIF."""
    del path
    return bool(first) and text(first[0].get("schema_version")).startswith("ATIF")


FORMAT: Final = SessionFormat(
    "atif", "ATIF", "2026-11-26, one redacted file of 1.7", ("jobs/**/trajectory*.json",), recognises, read
)
