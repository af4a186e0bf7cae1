"""OpenHands: `~/.openhands/conversations/SESSION/events/event-*.json`, or the same events as lines of a file.

A record is an event with its `kind`: a message, an action, an observation, or a condensation, which names the events
that it drops and may bring a summary of them. Version 0 is not read.

Source: `openhands/sdk/event` of the OpenHands/software-agent-sdk repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Line, Record, as_json, beside, content_text, fields, instant, text
from amgs.sessions.turn import Boundary, Place, Session


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("OpenHands", "openhands", path, limit)

    def kind_of(self, record: Record) -> str:
        """Return the kind of the event."""
        return text(record.get("kind"))

    def record(self, record: Record, place: Place) -> None:
        """Read one event into turns."""
        kind, source = text(record.get("kind")), text(record.get("source"))
        more: dict[str, Any] = {"at": instant(record.get("timestamp")), "id": text(record.get("id"))}
        call = record.get("tool_call_id")
        if kind == "SystemPromptEvent" and (content := content_text(record.get("system_prompt"))):
            self.know(system=content, tools=as_json(record.get("tools")) if record.get("tools") else "")
            self.turn(place, "system", "said", content, **more)
        elif kind == "MessageEvent" and (content := content_text(fields(record.get("llm_message")).get("content"))):
            if source == "agent":
                self.turn(place, "assistant", "said", content, **more | {"request": more["id"]})
            else:
                spoken = source == "user"
                self.turn(place, "user", "said" if spoken else "injected", content, **more)
        elif kind == "ActionEvent":
            self._action(record, place, more)
        elif kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
            observation = fields(record.get("observation"))
            content = content_text(observation.get("content") or observation.get("output"))
            content = content or content_text(record.get("error")) or text(record.get("rejection_reason"))
            failed = kind != "ObservationEvent" or observation.get("is_error") is True
            failed = failed or observation.get("exit_code") not in (None, 0)
            self.result(place, call, content, failed=failed, **more)
        elif kind == "Condensation":
            self._condensation(record, place, more)

    def _action(self, record: Record, place: Place, more: dict[str, Any]) -> None:
        more = more | {"request": text(record.get("llm_response_id")) or more["id"]}
        self.say(place, "assistant", "thinking", content_text(record.get("reasoning_content")), **more)
        if thought := content_text(record.get("thought")):
            self.turn(place, "assistant", "said", thought, **more)
        arguments = {key: value for key, value in fields(record.get("action")).items() if key != "kind"}
        self.calls(place, record.get("tool_name"), record.get("tool_call_id"), arguments, **more)

    def _condensation(self, record: Record, place: Place, more: dict[str, Any]) -> None:
        """Add a compaction with its summary; every event in the window that it does not name stays."""
        named = record.get("forgotten_event_ids", record.get("forgotten_event_id"))
        gone = {text(id) for id in (named if isinstance(named, list) else [named])}
        remaining_ids = dict.fromkeys(turn.id for turn in self.turns if turn.id and turn.id not in gone)
        self.turn(place, "system", "boundary", "", boundary=Boundary(preserved=(*remaining_ids,)), **more)
        self.say(place, "assistant", "summary", text(record.get("summary")), **more)


def read(path: Path) -> Session:
    """Return the session in a file or in a folder of events; see the module. Raises InputError for what cannot be
    read.
    """
    if not path.is_dir():
        return read_lines(_Reading, path)
    reading = _Reading(path, None)
    folder = path / "events" if (path / "events").is_dir() else path
    files = sorted(folder.glob("event-*.json"))
    if not files:
        raise InputError(f"{path} holds no events.", way_out="Give a conversation of OpenHands.")
    for number, file in enumerate(files, 1):
        event = beside(file)
        reading.take(Line(Place(number), event if isinstance(event, dict) else None, "not a JSON object"))
    state = fields(beside(folder.parent / "base_state.json"))
    llm = fields(fields(state.get("agent")).get("llm"))
    workspace = fields(state.get("workspace"))
    reading.know(
        id=text(state.get("id")) or folder.parent.name,
        model=text(llm.get("model")),
        project=text(workspace.get("working_dir")),
    )
    return reading.session()


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a folder holds events, or lines are some."""
    if path.is_dir():
        return any(next(folder.glob("event-*.json"), None) is not None for folder in (path, path / "events"))
    kinds = ("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent", "Condensation")
    return any(record.get("kind") in kinds for record in first)


FORMAT: Final = SessionFormat("openhands", "OpenHands", "", (".openhands/conversations/*/events",), recognises, read)
