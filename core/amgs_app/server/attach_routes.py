"""What an attached workstation asks: whole operations with values as they are, and what its own operations need.

An answer is a stream of lines: progress while it is worked on, a blank line a second so that both sides know of each
other, then the result or the problem. Who closes the connection cancels the work, which stops at its next report.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from amgs import wire
from amgs.errors import AmgsError, InputError, NotFoundError, UsageError
from amgs.problems import fault, problem
from amgs.text.plural import plural
from amgs.types import Progress
from amgs_app.attached.asks import ASKS, RemoteAsk, ReportHere
from amgs_app.attached.connection import CLIENT, LOOK
from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation, call_from_json
from amgs_app.calls.standard import standard
from amgs_app.server.asking import Asked, ByCaller, check_right
from amgs_app.server.hosting import Lane
from amgs_app.server.routes import closed
from amgs_app.server.table_routes import lane_of
from amgs_app.shell.output import intended
from amgs_app.terminal.exit_codes import code_of

if TYPE_CHECKING:
    from amgs.lifecycle.revision import RevisionPlan
    from amgs_app.engine import Engine

router = APIRouter(include_in_schema=False)
log = logging.getLogger("amgs.server")

BEAT_SECONDS: Final = 0.1
"""How often progress is told."""
BEATS_OF_SILENCE: Final = 10
_LONGEST_TOLD: Final = 200

Look = Annotated[str, Header(alias=LOOK)]
Client = Annotated[str, Header(alias=CLIENT, max_length=64)]


@dataclass(frozen=True, slots=True)
class _Work:
    """What a request has carried out, and what those who watch are told of it."""

    name: str
    lane: Lane
    changes: bool
    told: str
    do: Callable[[Engine, Progress], Any]
    quiet: bool = False


@router.post("/v1/attach/operations/{identifier}")
async def operation(
    asked: ByCaller, identifier: str, request: Request, amgs_look: Look = "", amgs_client: Client = ""
) -> StreamingResponse:
    """Carry out an operation on the engine with the arguments that the body gives by name."""
    chosen = next((each for each in standard() if each.identifier == identifier), None)
    if chosen is None or chosen.of_operator or chosen.place == "here":
        raise NotFoundError("There is no such operation here.", way_out="Use the same version on both sides.")
    request.state.operation = chosen.name
    check_right(asked, chosen.right, f"`{chosen.name}`")
    call = _call(chosen, await _body(request), near=asked.caller.near)
    return _answer(
        replace(asked, client=amgs_client),
        _Work(chosen.name, lane_of(call), chosen.writes, call.line(), call.apply, quiet=bool(amgs_look)),
    )


@router.post("/v1/attach/ask")
async def ask(asked: ByCaller, request: Request, amgs_look: Look = "", amgs_client: Client = "") -> StreamingResponse:
    """Call a method of the engine's, or read a value, that `ASKS` names."""
    given = await _body(request)
    path = given.get("path")
    known = ASKS.get(path) if isinstance(path, str) else None
    args, kwargs = given.get("args"), given.get("kwargs")
    if known is None or not isinstance(args, list) or not isinstance(kwargs, dict):
        raise NotFoundError("This cannot be asked here.", way_out="Use the same version on both sides.")
    request.state.operation = name = known.operation or str(path)
    check_right(asked, known.right, f"`{name}`")
    told = next((each for each in args if isinstance(each, str)), "")[:_LONGEST_TOLD]
    if not told and args and isinstance(args[0], list):
        told = f"{plural(len(args[0]), 'text')}"
    quiet = bool(amgs_look) or not known.operation
    changes = known.right != "read" and known.lane != "model"
    do = partial(_asked_of, str(path), known, args, kwargs)
    return _answer(replace(asked, client=amgs_client), _Work(name, known.lane, changes, told, do, quiet=quiet))


async def _body(request: Request) -> dict[str, Any]:
    """The value in the body; raises InputError for one that is none."""
    body = await request.body()
    try:
        given = await asyncio.to_thread(wire.loads, body)
    except AmgsError:
        raise
    except Exception as error:  # whatever the constructors of values say of values that nobody made
        raise InputError("The question cannot be read.", way_out="Use the same version on both sides.") from error
    if not isinstance(given, dict):
        raise InputError("The question cannot be read.", way_out="Use the same version on both sides.")
    return given


def _call(chosen: Operation[..., Any], given: Mapping[str, Any], *, near: bool) -> Call[Any]:
    """The call; raises UsageError for arguments that the operation does not take, and for files of this machine."""
    arguments = given.get("arguments")
    if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
        raise UsageError("The arguments are missing.", way_out="Use the same version on both sides.")
    if not near and any(arguments.get(name) not in (None, [], ()) for name in closed(chosen)):
        raise UsageError("A client's files are read by the client.", way_out="Send the text itself.")
    try:
        return call_from_json(chosen, arguments)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"{place}: {first['msg']}.", way_out=f"Use: {chosen.usage()}") from error


def _asked_of(
    path: str, known: RemoteAsk, args: list[Any], kwargs: Mapping[str, Any], engine: Engine, progress: Progress
) -> Any:
    """What a method or a value of the engine gives. Raises UsageError for arguments that it does not take."""

    def given(value: Any) -> Any:
        return progress if isinstance(value, ReportHere) else value

    found = _OWN.get(path) or partial(_named, path)
    method = found(engine)
    if known.value:
        return method
    try:
        bound = inspect.signature(method).bind(
            *(given(each) for each in args), **{name: given(each) for name, each in kwargs.items()}
        )
    except TypeError as error:
        raise UsageError("The question does not fit.", way_out="Use the same version on both sides.") from error
    result = method(*bound.args, **bound.kwargs)
    return result if known.sent else None


def _named(path: str, engine: Engine) -> Any:
    found: Any = engine
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _export(engine: Engine) -> Callable[..., Any]:
    def export(form: str) -> Any:
        with tempfile.TemporaryDirectory(prefix="amgs-export-") as folder:
            path = Path(folder) / "memory"
            told = engine.memory.exchange.export(path, "graphml" if form == "graphml" else "json")
            return told, path.read_bytes()

    return export


def _import(engine: Engine) -> Callable[..., Any]:
    def load(data: bytes, progress: Progress | None = None) -> Any:
        with tempfile.TemporaryDirectory(prefix="amgs-import-") as folder:
            path = Path(folder) / "memory"
            path.write_bytes(data)
            return engine.memory.exchange.load(path, progress)

    return load


def _apply(engine: Engine) -> Callable[..., Any]:
    def apply(plan: RevisionPlan) -> Any:
        if plan.names:  # where files lie: `source update` would read them here
            raise UsageError("A client's files are read by the client.", way_out="Send the text itself.")
        return engine.memory.sources.apply(plan)

    return apply


_OWN: Final[Mapping[str, Callable[[Engine], Callable[..., Any]]]] = {
    "memory.exchange.export": _export,
    "memory.exchange.load": _import,
    "memory.sources.apply": _apply,
}
"""What is asked by the content of a file instead of its path."""


def _answer(asked: Asked, work: _Work) -> StreamingResponse:
    return StreamingResponse(_lines(asked, work), media_type="application/x-ndjson")


async def _lines(asked: Asked, work: _Work) -> AsyncIterator[bytes]:
    """The answer line by line; who stops reading cancels the work."""
    said: list[tuple[int, int, str]] = [(0, 0, "")]  # the latest report, put there in the thread that works

    def report(done: int, total: int, doing: str) -> None:
        said[0] = (done, total, doing)

    progress = Progress(report)
    engine = asked.namespace.engine

    def carry_out() -> Any:
        with asked.namespace.holding(work.lane):
            return work.do(engine, progress)

    task = asyncio.ensure_future(
        asked.run(work.name, work.lane, carry_out, work.told, changes=work.changes, quiet=work.quiet)
    )
    _running.add(task)
    task.add_done_callback(_ended)
    try:
        shown, silent = said[0], 0
        while not (await asyncio.wait({task}, timeout=BEAT_SECONDS))[0]:
            silent += 1
            if said[0] != shown:
                shown, silent = said[0], 0
                yield _line({"progress": list(shown)})
            elif silent % BEATS_OF_SILENCE == 0:
                yield b"\n"
        yield await asyncio.to_thread(_outcome, task)
    finally:
        progress.cancel()


_running: set[asyncio.Task[Any]] = set()
"""Work goes on until its next report when nobody waits for it any more."""


def _ended(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        task.exception()  # taken note of: what went wrong was told, or nobody is left to tell


def _outcome(task: asyncio.Task[Any]) -> bytes:
    """The last line: the result, or the problem with the words of the exception."""
    error = task.exception()
    if error is None:
        return b'{"result":' + wire.dumps(task.result()) + b"}\n"
    if not intended(error):
        log.error("fault in what an attached client asked", exc_info=error)
        return _line({"problem": fault()})
    about = str(getattr(error, "about", ""))
    return _line({"problem": problem(error, about=about, exit_code=int(code_of(error)))})


def _line(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"
