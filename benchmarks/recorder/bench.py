"""`recorder`: whether anything is lost or breaks on the way in, and whether what is told of it is right.

The controls: for use, answers of other conversations; for scores, the same scores dealt out anew; for an audit, the
records that were planted as sound; for a comparison, BM25, chance and everything, and the recall that `locomo` finds.
"""

from __future__ import annotations

import gzip
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amgs.calibration.forecasting import LEVELS, promise_budget
from amgs.sessions.formats.otlp import by_conversation, session_of
from amgs.sessions.spans import RecordedSpan, as_otlp, instant_of, join_contents
from amgs.types.diagnosis import QuestionCase
from amgs.wings.recorder.audit import audit
from amgs.wings.recorder.bodies import SpanReader, contents_of, read_body
from amgs.wings.recorder.foreign_memory import memory_of
from amgs.wings.recorder.uses import review_scores
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.locomo_data import read_folder
from benchmarks.recorder.bisected import measure_causes
from benchmarks.recorder.examples import DAY, conventional, planted
from benchmarks.recorder.versus import Contender, compare, controls
from benchmarks.stores import block_ids, conversation_store

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

BENCH: Final = Bench(
    "recorder",
    {
        "attributes_lost": ("<=", 0),
        "spans_a_second": (">=", 5_000.0),
        "acknowledged_lost": ("<=", 0),
        "hostile_tracebacks": ("<=", 0),
        "audit_precision": (">=", 0.9),
        "audit_recall": (">=", 0.9),
        "use_right": (">=", 0.95),
        "cause_bisect_all": (">=", 70.0),
        "versus_off": ("<=", 0.5),
        "promise_80_off": ("<=", 3.0),
        "promise_90_off": ("<=", 3.0),
        "promise_95_off": ("<=", 3.0),
    },
)
_LISTENS: Final = """
import sys, threading
from datetime import UTC, datetime
from pathlib import Path
from amgs.wings.recorder.receiver import SpanReceiver
from amgs.wings.recorder.bodies import SpanWriter
with SpanWriter(Path(sys.argv[1])) as writer, SpanReceiver(writer, lambda: datetime.now(UTC), 0) as receiver:
    print(receiver.server_address[1], flush=True)
    receiver.serve_forever()
"""
_BATCH: Final = 512
"""Spans of a body, as the exporters of OpenTelemetry send them."""
_SENDERS: Final = 2


def run(
    rig: MemoryRig,
    data: Path | None,
    *,
    kills: int = 100,
    bodies: int = 2_000,
    seconds: int = 10,
    model: BaseModel | None = None,
    causes: int = 150,
) -> BenchResult:
    """Measure all of it. data: conversations in LoCoMo's format; None compares nothing. model: what `bisect` asks; None
    plants no causes.
    """
    drawn = random.Random(rig.seed)
    metrics: dict[str, float] = {"attributes_lost": float(_lost_attributes())}
    rig.progress(1, 6, "spans a second")
    metrics |= _throughput(seconds)
    rig.progress(2, 6, "kills")
    metrics |= _killed(kills, drawn)
    rig.progress(3, 6, "hostile bodies")
    metrics |= _hostile(bodies, drawn)
    rig.progress(4, 6, "planted uses and faults")
    metrics |= _judged(rig.seed)
    tables: tuple[BenchTable, ...] = ()
    if data is not None:
        rig.progress(5, 6, "comparing memories")
        found, table = _compared(rig, data)
        metrics, tables = metrics | found, (table,)
    if model is not None:
        rig.progress(5, 6, "planted causes")
        found, table = measure_causes(model, rig.progress, rig.seed, causes)
        metrics, tables = metrics | found, (*tables, table)
    settings = {"kills": kills, "bodies": bodies, "seconds": seconds, "causes": causes}
    settings |= {"batch": _BATCH, "senders": _SENDERS}
    return BENCH.result(settings, metrics, tables)


# --- conformance -------------------------------------------------------------------------------------------


def _protobuf(spans: Sequence[RecordedSpan]) -> bytes:
    """Spans as one request in protobuf, made by the official package from OTLP's own JSON."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    whole = as_otlp(spans)
    for group in whole["resourceSpans"]:
        for span in group["scopeSpans"][0]["spans"]:
            for name in ("traceId", "spanId", "parentSpanId"):
                if name in span:
                    span[name] = _base64(span[name])
    return bytes(ParseDict(whole, ExportTraceServiceRequest()).SerializeToString())


def _base64(id: str) -> str:
    import base64

    return base64.b64encode(bytes.fromhex(id)).decode()


def _lost_attributes() -> int:
    """Of the conventions' examples, what another span has after JSON, after protobuf, and after being told on."""
    spans, lost = conventional(), 0
    body = json.dumps(as_otlp(spans)).encode()
    again = read_body("otlp-json", body).spans
    for found in (again, read_body("otlp-protobuf", _protobuf(spans)).spans):
        lost += abs(len(found) - len(spans))
        for before, after in zip(spans, found, strict=False):
            lost += sum(after.attributes.get(key) != value for key, value in before.attributes.items())
            lost += sum(after.resource.get(key) != value for key, value in before.resource.items())
            lost += replace(after, attributes=before.attributes, resource=before.resource) != before
    memory = memory_of(again)
    lost += 8 - len(memory.operations)
    return lost + (len(session_of(list(again), Path(), "conv_1").turns) == 0)


# --- sending -----------------------------------------------------------------------------------------------


@contextmanager
def _listening(folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of a receiver in a process of its own."""
    with (
        (folder.parent / "stderr").open("ab") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", _LISTENS, str(folder)], stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as running,
    ):
        assert running.stdout is not None
        try:
            yield int(running.stdout.readline()), running
        finally:
            running.kill()


def _batches(seed: int) -> list[bytes]:
    """Bodies of recorded operations of memories and answers, in protobuf."""
    spans, *_ = planted(seed, 1_000)
    return [_protobuf(spans[n : n + _BATCH]) for n in range(0, len(spans) - _BATCH, _BATCH)]


def _post(connection: http.client.HTTPConnection, body: bytes, kind: str, **headers: str) -> int:
    connection.request("POST", "/v1/traces", body, {"Content-Type": kind, **headers})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _throughput(seconds: int) -> dict[str, float]:
    bodies, counts = _batches(1), Counter[int]()
    waits: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, _listening(Path(scratch) / "spans") as (port, _):
        end = time.monotonic() + seconds

        def send(number: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            while time.monotonic() < end:
                begun = time.perf_counter()
                assert _post(connection, bodies[counts[number] % len(bodies)], "application/x-protobuf") == 200
                waits.append(time.perf_counter() - begun)
                counts[number] += 1
            connection.close()

        begun = time.monotonic()
        sending = [threading.Thread(target=send, args=(number,)) for number in range(_SENDERS)]
        for one in sending:
            one.start()
        for one in sending:
            one.join()
        took = time.monotonic() - begun
        reader = SpanReader(Path(scratch) / "spans")
        started = time.perf_counter()
        read = sum(len(content.spans) for content in contents_of(reader.new()))
        reading = time.perf_counter() - started
    waits.sort()
    sent = sum(counts.values()) * _BATCH
    return {
        "spans_a_second": sent / took,
        "body_p99_ms": 1000 * waits[int(len(waits) * 0.99)],
        "spans_read_a_second": read / reading,
        "spans_taken_lost": float(sent - read),
    }


def _killed(kills: int, drawn: random.Random) -> dict[str, float]:
    """Bodies that were acknowledged before a kill and are not there afterwards."""
    lost = acknowledged = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "spans"
        for number in range(kills):
            kept: list[str] = []
            with _listening(folder) as (port, running):
                stop = threading.Timer(drawn.uniform(0.01, 0.3), running.send_signal, (signal.SIGKILL,))
                stop.start()
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                with suppress(OSError, http.client.HTTPException):
                    while True:
                        name = f"{number}.{len(kept)}"
                        span = replace(conventional()[0], name=name, trace=f"{number + 1:032x}")
                        body = json.dumps(as_otlp([replace(span, id=f"{len(kept) + 1:016x}")])).encode()
                        if _post(connection, body, "application/json") == 200:
                            kept.append(name)
                connection.close()
                stop.join()
            acknowledged += len(kept)
            found = {span.name for content in contents_of(SpanReader(folder).new()) for span in content.spans}
            lost += len({*kept} - found)
    return {"acknowledged": float(acknowledged), "acknowledged_lost": float(lost)} if kills else {}


# --- hostile bodies ----------------------------------------------------------------------------------------


def _hostile(count: int, drawn: random.Random) -> dict[str, float]:
    """Bodies that were damaged or made up: none may end the receiver, make it say anything, or be answered otherwise
    than with a status of taking or refusing; and what was taken must be readable to the end.
    """
    good = [json.dumps(as_otlp(conventional())).encode(), _protobuf(conventional())]
    kinds = ("application/json", "application/x-protobuf")
    odd = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "spans"
        with _listening(folder) as (port, running):
            for number in range(count):
                which = number % 2
                body, headers = _damaged(good[which], drawn)
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                try:
                    status = _post(connection, body, kinds[which], **headers)
                    odd += status not in (200, 400, 403, 411, 413, 415)
                except (OSError, http.client.HTTPException):
                    odd += 1
                finally:
                    connection.close()
            odd += running.poll() is not None
        odd += len((Path(scratch) / "stderr").read_bytes().splitlines())
        spans = join_contents(list(contents_of(SpanReader(folder).new())))
        memory = memory_of(spans)
        review_scores(memory)
        audit(memory, datetime.now(UTC), 1)
        for id, told in by_conversation(spans).items():
            session_of(told, Path(), id)
    return {"hostile_tracebacks": float(odd)} if count else {}


@cache
def _bomb() -> bytes:
    """80 MiB of blanks, packed."""
    return gzip.compress(b" " * (80 << 20))


def _damaged(body: bytes, drawn: random.Random) -> tuple[bytes, dict[str, str]]:
    made = bytearray(body)
    match drawn.randrange(6):
        case 0:
            del made[drawn.randrange(len(made)) :]
        case 1:
            for _ in range(drawn.randrange(1, 40)):
                made[drawn.randrange(len(made))] = drawn.randrange(256)
        case 2:
            at = drawn.randrange(len(made))
            made[at:at] = drawn.choice((b"[" * 50_000, b'{"a":' * 20_000, b"\xff" * 999, b"9" * 5_000, b"\0"))
        case 3:
            return gzip.compress(bytes(made))[: drawn.randrange(1, 200)], {"Content-Encoding": "gzip"}
        case 4:
            return _bomb(), {"Content-Encoding": "gzip"}
        case 5:
            word, other = drawn.choice(((b"spanId", b"Spanid"), (b"attributes", b"key"), (b'"', b"")))
            made = bytearray(body.replace(word, other, drawn.randrange(1, 9)))
    return bytes(made), {}


# --- what is told ------------------------------------------------------------------------------------------


def _judged(seed: int) -> dict[str, float]:
    """Planted uses and faults, and what was found of them."""
    spans, reasons, used = planted(seed)
    memory = memory_of(spans)
    review = review_scores(memory)
    told = {one.record.id: one.reason for one in audit(memory, instant_of(spans[-1].end + DAY), 30).findings}
    wanted = {id: reason for id, reason in reasons.items() if reason}
    right = sum(told.get(id) == reason for id, reason in wanted.items())
    dealt = [score for one in memory.searches() for each in one.records if (score := each.score) is not None]
    random.Random(seed).shuffle(dealt)
    anew = iter(dealt)
    for number, one in enumerate(memory.operations):
        if one.act == "search":
            records = tuple(replace(each, score=next(anew)) for each in one.records)
            memory.operations[number] = replace(one, records=records)
    chance = review_scores(memory)
    assert review.table is not None and chance.table is not None
    return {
        "audit_recall": right / len(wanted),
        "audit_precision": right / len(told) if told else 0.0,
        "use_right": 1.0 - abs(round(review.used * review.judged) - used) / max(1, review.judged),
        "use_elsewhere": review.elsewhere or 0.0,
        "scores_auroc": review.auroc or 0.0,
        "scores_auroc_dealt_anew": chance.auroc or 0.0,
        "scores_brier": review.table.brier or 0.0,
        "scores_brier_dealt_anew": chance.table.brier or 0.0,
    }


# --- memories compared -------------------------------------------------------------------------------------


def _compared(rig: MemoryRig, data: Path) -> tuple[dict[str, float], BenchTable]:
    """`versus` on LoCoMo's questions at ten texts, beside recall@10 counted by blocks, as `locomo` counts it; and at a
    budget.
    """
    totals: dict[str, list[float]] = {}
    ours: list[float] = []
    counted: list[float] = []
    needed: list[tuple[int | None, ...]] = []
    for conversation in read_folder(data):
        with conversation_store(conversation, rig.embedder) as memory:
            texts = [draft.content for draft in conversation.drafts]
            by_source = {str(draft.meta["source"]): draft.content for draft in conversation.drafts}
            cases = [
                QuestionCase(one.text, tuple(by_source[source] for source in one.evidence))
                for one in conversation.questions
            ]

            def ask(question: str, memory: Any = memory) -> list[str]:
                return [hit.block.content for hit in memory.search(question, top_k=400).hits]

            every = [Contender("amgs", ask), *controls(texts, rig.seed)]
            for one, case in zip(conversation.questions, cases, strict=True):
                wanted = tuple(block_ids(memory, one.evidence))
                best = {hit.block.id for hit in memory.search(case.question, top_k=10).hits}
                counted.append(sum(bool(ids & best) for ids in wanted) / len(wanted))
            for score in compare(cases, every, budget=1, top=10):
                totals.setdefault(f"{score.name}, ten texts", []).extend([score.evidence] * score.asked)
                if score.name == "amgs":
                    ours += [score.evidence] * score.asked
            for score in compare(cases, every, budget=400):
                if score.name == "amgs":
                    needed.append(score.needed)
                totals.setdefault(f"{score.name}, 400 tokens", []).extend([score.evidence] * score.asked)
    here, there = (100 * sum(values) / len(values) for values in (ours, counted))
    rows = tuple((name, 100 * sum(values) / len(values)) for name, values in totals.items())
    table = BenchTable(f"Evidence held, {len(counted)} questions", ("memory", "%"), rows)
    found = {"versus_recall10": here, "locomo_recall10": there, "versus_off": abs(here - there)}
    return found | _hold_promises(needed), table


def _hold_promises(needed: Sequence[tuple[int | None, ...]]) -> dict[str, float]:
    """For each level, how many questions of a conversation are held within the budget that the other conversations
    promise, and how far off the level that is, in points; the budget is the mean. A promise that cannot be made is
    left out.
    """
    made: dict[str, float] = {}
    for level in LEVELS:
        held: list[bool] = []
        budgets: list[int] = []
        for place, own in enumerate(needed):
            others = [one for n, each in enumerate(needed) if n != place for one in each]
            budget = promise_budget(others, level)
            if budget is not None:
                budgets.append(budget)
                held += [one is not None and one <= budget for one in own]
        if held:
            name, coverage = f"promise_{level * 100:.0f}", 100 * sum(held) / len(held)
            made |= {name: coverage, f"{name}_off": abs(coverage - 100 * level)}
            made[f"{name}_tokens"] = sum(budgets) / len(budgets)
    return made
