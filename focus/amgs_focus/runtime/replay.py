"""Replay a trace on a fresh runtime and compare the outcomes."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from amgs_focus.errors import TraceError
from amgs_focus.options import OPTIONS
from amgs_focus.records import Refocus, StepRecord
from amgs_focus.trace.events import (
    Acted,
    Branched,
    Configured,
    Ingested,
    Overridden,
    QuestionRecord,
    SteppedBack,
    Switched,
    Trace,
    TraceEvent,
    TraceHeader,
    outcome,
)
from amgs_focus.trace.trace import faulty
from amgs_focus.tree.span_metadata import plain, round_floats

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel
    from amgs_focus.options import ProgressCallback
    from amgs_focus.runtime.runtime import FocusRuntime


def header_of(runtime: FocusRuntime, *, created: str = "", folder: str = "") -> TraceHeader:
    """Return the header of a trace that begins with this runtime's present state."""
    gist = runtime.tree.gist
    return TraceHeader(
        model=runtime.model.card,
        fingerprint=fingerprint(runtime.model),
        gist=gist.name,
        gist_version=gist.version,
        scorer=runtime.scorer.name,
        scorer_version=runtime.scorer.version,
        settings=runtime.settings.model_dump(),
        lifetime=runtime.tree.length,
        created=created,
        kept=folder,
        text_encoder="" if runtime.search is None else runtime.search.encoder.name,
        options=asdict(OPTIONS),
        search={} if runtime.search is None else runtime.search.options.to_header(),
    )


def fingerprint(model: BaseModel) -> str:
    """Return 16 hex digits of 64 embedding rows spread over the vocabulary, which tell two models of one name apart."""
    import torch

    rows = torch.linspace(0, model.card.vocabulary - 1, 64).long()
    values = model.embed(rows).detach().to("cpu", torch.float32).numpy()
    return hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()[:16]


def replay(trace: Trace, runtime: FocusRuntime, progress: ProgressCallback | None = None) -> int:
    """Replay a trace on a fresh runtime; return the number of steps, all of which agreed.

    The model may have another name if its fingerprint is the same. Raises TraceError for another model, gist, scorer or
    settings, and for the first line whose outcome differs.
    """
    ours = round_floats(plain(header_of(runtime)))
    theirs = round_floats(plain(trace.header))
    names = (
        "model",
        "fingerprint",
        "gist",
        "gist_version",
        "scorer",
        "scorer_version",
        "text_encoder",
        "search",
        "options",
        "settings",
        "lifetime",
    )
    if ours["fingerprint"] == theirs["fingerprint"]:
        ours["model"]["name"] = theirs["model"]["name"]
    for name in names:
        if ours[name] != theirs[name]:
            raise TraceError(
                f"The trace was recorded with {name} {theirs[name]}, not {ours[name]}.",
                way_out="Replay it with what its header names.",
            )
    for done, event in enumerate(trace.events):
        if progress is not None:
            progress(done, len(trace.events), "replaying")
        _replay_one(event, runtime)
    return len(trace.steps)


def _replay_one(event: TraceEvent, runtime: FocusRuntime) -> None:
    record = event.record
    if isinstance(record, Refocus):
        if record.forced:
            _same(event, "refocus", outcome(runtime.refocus()), outcome(record))
        return
    if isinstance(record, StepRecord):
        step = runtime.step()
        _same(event, "token", step.token, record.token)
        _same(event, "refocus", outcome(step.refocus), outcome(record.refocus))
        _same(event, "state", step.state_hash, record.state_hash)
        return
    if isinstance(record, Overridden):
        runtime.override(record.node, record.word)
        return
    if isinstance(record, Ingested):
        runtime.ingest(record.segments)
    elif isinstance(record, QuestionRecord):
        runtime.question(record.question)
    elif isinstance(record, SteppedBack):
        runtime.back(record.steps)
    elif isinstance(record, Configured):
        runtime.configure(record.key, record.value)
    elif isinstance(record, Acted):
        runtime.act(record.act)
    elif isinstance(record, Switched):
        runtime.switch(record.name)
    elif isinstance(record, Branched) and record.chosen:
        runtime.branch(record.name, at=record.at)
    else:  # a branch that the next event begins by itself, or an event that changes nothing
        return
    _same(event, "state", runtime.state_hash(), record.state_hash)


def _same(event: TraceEvent, what: str, actual: Any, expected: Any) -> None:
    if actual != expected:
        shown = f" ({actual} instead of {expected})" if what != "refocus" else ""
        raise faulty(event.line, f"the replay gives another {what}{shown}")
