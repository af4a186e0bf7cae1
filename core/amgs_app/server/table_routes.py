"""Make FastAPI routes from the table of routes; and those for an attached workstation, which sends exact values."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Body, FastAPI, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, ValidationError
from starlette.routing import Match

from amgs import wire
from amgs.errors import AmgsError, InputError, NotFoundError, UsageError
from amgs.ingest.source_names import SENT
from amgs.problems import fault, problem
from amgs.types import Progress, StoreStatus
from amgs_app.attached.connection import CLIENT, LOOK, SentFile, UnpackedFiles
from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation, call_from_json
from amgs_app.calls.registry import standard
from amgs_app.places.paths import SentText
from amgs_app.server.asking import Asked, ByCaller, check_right
from amgs_app.server.hosting import Lane
from amgs_app.server.routes import EXPLAINED, Route, file_parameters, request_model
from amgs_app.session import Operator
from amgs_app.shell.output import is_intended
from amgs_app.terminal.output import code_of

if TYPE_CHECKING:
    from starlette.types import Scope


def lane_of(call: Call[Any]) -> Lane:
    """Return the lane (thread pool) in which a call runs."""
    operation = call.operation
    if operation.lane == "model":
        return "background" if call.in_background else "model"
    if operation.long:
        return "long"
    return "write" if operation.writes and not operation.logs else "read"


def add_route(app: FastAPI, route: Route) -> None:
    """Add a route to the application, with the operation's parameters in path, query or body."""
    in_path, model = route.in_path, request_model(route)
    names = {parameter: name for name, parameter in route.renamed}
    plain = _without_explanation(route.operation)

    async def endpoint(asked: Asked, values: BaseModel, **path: str) -> Response:
        check_right(asked, route.right, f"`{route.operation.name}`")
        arguments = {name: getattr(values, name) for name in type(values).model_fields}
        arguments |= {parameter: path[names.get(parameter, parameter)] for parameter in in_path}
        operation = route.operation if asked.lossless or arguments.get("explain") else plain
        call: Call[Any] = Call(
            operation, {option.name: arguments.get(option.name, option.default) for option in operation.parameters}
        )
        check_right(asked, call.right, f"`{call.line()}`")
        lane = lane_of(call)

        def work() -> Any:
            engine = asked.namespace.engine
            with asked.namespace.holding(lane):
                return call.run(Operator(engine) if operation.of_operator else engine)

        result = await asked.run(operation.name, lane, work, call.line(), changes=operation.writes, masked=True)
        return asked.answer(without_place(asked, result))

    where = Query() if route.asks_in_query else Body(default_factory=model) if not _needs(model) else Body()
    parameters = [
        inspect.Parameter("asked", inspect.Parameter.KEYWORD_ONLY, annotation=ByCaller),
        inspect.Parameter("values", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[model, where]),
        *(
            inspect.Parameter(
                names.get(path_name, path_name),
                inspect.Parameter.KEYWORD_ONLY,
                annotation=Annotated[str, Field(max_length=512, description=_help(route, path_name))],
            )
            for path_name in in_path
        ),
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = route.identifier
    deletes = route.method == "DELETE"
    app.router.add_api_route(
        route.path,
        endpoint,
        methods=[route.method],
        route_class_override=_BodyAsQuery if deletes else None,
        openapi_extra={"requestBody": _body_of(model)} if deletes else None,
        operation_id=route.identifier,
        summary=route.operation.summary,
        description=route.operation.help,
        tags=[route.tag],
        response_model=None,
    )


def _without_explanation(operation: Operation[..., Any]) -> Operation[..., Any]:
    """Return the operation with its shortened plain answer, computed before secrets are masked to save that work."""
    leave_out = EXPLAINED.get(operation.name)
    if leave_out is None:
        return operation

    @wraps(operation.function)
    def function(*args: Any, **named: Any) -> Any:
        return leave_out(operation.function(*args, **named))

    return replace(operation, function=function)


class _BodyAsQuery(APIRoute):
    """A DELETE route whose parameters may be in a JSON body instead of the query (AMGS §11.2)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that first moves the fields of the body into the query."""
        handle = super().get_route_handler()

        async def handle_body(request: Request) -> Response:
            if body := await request.body():
                try:
                    pairs = [(name, value) for name, value in json.loads(body).items() if value is not None]
                    query = parse_qsl(request.scope["query_string"].decode(), keep_blank_values=True) + pairs
                    request.scope["query_string"] = urlencode(query, doseq=True).encode()
                except (ValueError, AttributeError, RecursionError):
                    raise InputError(
                        "The body is no object in JSON.", way_out="Leave it out, or give the parameters in it by name."
                    ) from None
            return await handle(request)

        return handle_body


def _body_of(model: type[BaseModel]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": model.model_json_schema()}}}


def without_place(asked: Asked, result: Any) -> Any:
    """Return the result without the store's folder, unless the caller may operate the store."""
    store = getattr(result, "store", None)
    if asked.caller.can("operate") or not isinstance(store, StoreStatus):
        return result
    return replace(result, store=replace(store, path=PurePath(store.path).name))


def _needs(model: type[BaseModel]) -> bool:
    """Return whether the model has a required field."""
    return any(field.is_required() for field in model.model_fields.values())


def _help(route: Route, parameter: str) -> str:
    return next(option.help for option in route.operation.parameters if option.name == parameter)


class _ExactRoute(APIRoute):
    """A route for bodies of this media type only; other requests fall through to the plain routes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if dict(scope["headers"]).get(b"content-type") != wire.MEDIA_TYPE.encode():
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(include_in_schema=False, route_class=_ExactRoute)
log = logging.getLogger("amgs.server")

BEAT_SECONDS: Final = 0.1
"""Seconds between two looks at the progress."""
BEATS_OF_SILENCE: Final = 10
"""Looks without progress after which a blank line is sent."""
_OTHER: Final = "Use the same version on both sides."


@dataclass(slots=True)
class _Work:
    """A request to run an operation.

    state: the operator's state to continue from. unpacked: the client's files, None without any. answer: filled with
    what is sent beside the result: the changed state, and which of its parts equal the result.

    Its answer is a stream of lines: progress during the work, a blank line each second to keep the connection alive,
    then the result or the problem. Closing the connection cancels the work at its next progress report.
    """

    call: Call[Any]
    state: Mapping[str, Any]
    unpacked: UnpackedFiles | None
    answer: dict[str, Any]

    def run(self, asked: Asked, progress: Progress) -> Any:
        """Run the call on an operator with the client's state, and fill in `answer`."""
        operator = Operator(asked.namespace.engine)
        operator.restore_state(self.state)
        before = operator.state()
        with asked.namespace.holding(lane_of(self.call)):
            result = self.call.apply(operator if self.call.operation.of_operator else operator.engine, progress)
        changed = {name: value for name, value in operator.state().items() if value is not before[name]}
        result_names = [name for name, value in changed.items() if type(value) is type(result)]
        self.answer.update(
            facts=operator.engine.facts(),
            given=result_names,
            state={name: value for name, value in changed.items() if name not in result_names},
            written={} if self.unpacked is None else self.unpacked.read_changed(),
        )
        return without_place(asked, result)


@router.post("/v1/operations/{identifier}")
async def operation(
    asked: ByCaller,
    identifier: str,
    request: Request,
    look: Annotated[str, Header(alias=LOOK)] = "",
    client: Annotated[str, Header(alias=CLIENT, max_length=64)] = "",
) -> StreamingResponse:
    """Carry out an operation with the arguments that the body gives by name, and the files that it holds."""
    chosen = next((candidate for candidate in standard() if candidate.identifier == identifier), None)
    if chosen is None or chosen.place == "here":
        raise NotFoundError("There is no such operation here.", way_out=_OTHER)
    request.state.operation = chosen.name
    check_right(asked, chosen.right, f"`{chosen.name}`")
    question = await _body(request)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=SENT)))
        work = await asyncio.to_thread(_read_work, chosen, question, folder, near=asked.caller.near)
        check_right(asked, work.call.right, f"`{work.call.line()}`")
        lines = _lines(replace(asked, client=client), work, quiet=bool(look), folder=stack.pop_all())
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _body(request: Request) -> dict[str, Any]:
    """Decode the body; raises InputError if it is not a dictionary of values."""
    body = await request.body()
    try:
        question = await asyncio.to_thread(wire.loads, body)
    except AmgsError:
        raise
    except Exception as error:  # a constructor may raise anything for forged values
        raise InputError("The question cannot be read.", way_out=_OTHER) from error
    if not isinstance(question, dict):
        raise InputError("The question cannot be read.", way_out=_OTHER)
    return question


def _read_work(chosen: Operation[..., Any], question: Mapping[str, Any], folder: Path, *, near: bool) -> _Work:
    """Return the requested work: a call whose file arguments point to the received files.

    near: the client is on this machine, so its own paths are used. Raises UsageError for arguments that the operation
    does not take, and for files that are named but not sent.
    """
    arguments, files = question.get("arguments"), question.get("files", ())
    if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
        raise UsageError("The arguments are missing.", way_out=_OTHER)
    if not isinstance(files, tuple) or not all(isinstance(file, SentFile) for file in files):
        raise UsageError("The files cannot be read.", way_out=_OTHER)
    paths, unpacked = question.get("paths"), None
    if files and not (near and isinstance(paths, list) and len(paths) == len(files)):
        unpacked = UnpackedFiles.of(folder, files, question.get("archive") or b"")
        paths = [str(folder / file.place) for file in files]
    named: dict[str, list[str]] = {}
    for file, path in zip(files, paths or (), strict=True):
        named.setdefault(file.parameter, []).append(path)
    texts = {}
    for parameter in chosen.parameters:
        value = arguments.get(parameter.name)
        if parameter.name in named:
            file_paths = named.pop(parameter.name)
            arguments = {**arguments, parameter.name: file_paths if parameter.many else file_paths[0]}
        elif parameter.name in file_parameters(chosen) and value not in (None, [], ()):
            if not isinstance(value, str):
                raise UsageError("A client's files are read by the client.", way_out="Send the text itself.")
            texts[parameter.name] = SentText(value)
    if named:
        raise UsageError("The files belong to no parameter.", way_out=_OTHER)
    try:
        call = call_from_json(chosen, arguments).having(**texts)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"{place}: {first['msg']}.", way_out=f"Use: {chosen.usage()}") from error
    call.check()
    state = question.get("state")
    return _Work(call, state if isinstance(state, dict) else {}, unpacked, {})


async def _lines(asked: Asked, work: _Work, *, quiet: bool, folder: ExitStack) -> AsyncIterator[bytes]:
    """Run the work and yield the answer line by line; if the reader leaves, cancel it.

    folder: temporary folder of the received files, removed when the work has ended.
    """
    latest: list[tuple[int, int, str]] = [(0, 0, "")]  # the latest report, put there in the thread that works

    def report(done: int, total: int, doing: str) -> None:
        latest[0] = (done, total, doing)

    progress = Progress(report)
    chosen, line = work.call.operation, work.call.line()
    if work.unpacked is not None:
        line = work.unpacked.restore_client_paths(line.encode()).decode()

    def carry_out() -> Any:
        with folder:
            return work.run(asked, progress)

    running = asked.run(
        chosen.name, lane_of(work.call), carry_out, line, changes=chosen.writes, quiet=quiet, masked=True
    )
    task = asyncio.ensure_future(running)
    _running.add(task)
    task.add_done_callback(_discard_task)
    try:
        shown, silent = latest[0], 0
        while not (await asyncio.wait({task}, timeout=BEAT_SECONDS))[0]:
            silent += 1
            if latest[0] != shown:
                shown, silent = latest[0], 0
                yield _line({"progress": list(shown)})
            elif silent % BEATS_OF_SILENCE == 0:
                yield b"\n"
        yield await asyncio.to_thread(_outcome, task, work)
    finally:
        progress.cancel()


_running: set[asyncio.Task[Any]] = set()
"""Tasks that may outlive their connection until their next progress report; held so that they are not collected."""


def _discard_task(task: asyncio.Task[Any]) -> None:
    """Forget a finished task and read its exception, so that asyncio does not warn about it."""
    _running.discard(task)
    if not task.cancelled():
        task.exception()  # read it: it was sent already, or the client has left


def _outcome(task: asyncio.Task[Any], work: _Work) -> bytes:
    """Return the last line: the result with its additions, or the problem."""
    error = task.exception()
    if error is None:
        line = wire.dumps({"result": task.result(), **work.answer}) + b"\n"
    elif is_intended(error):
        about = str(getattr(error, "about", ""))
        line = _line({"problem": problem(error, about=about, exit_code=int(code_of(error)))})
    else:
        log.error("fault in what an attached client asked", exc_info=error)
        line = _line({"problem": fault()})
    return line if work.unpacked is None else work.unpacked.restore_client_paths(line)


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"
