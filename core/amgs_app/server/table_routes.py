"""Make FastAPI routes from the table of routes; each runs its operation with the request's parameters."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import wraps
from pathlib import PurePath
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Body, FastAPI, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from amgs.errors import InputError
from amgs.types import StoreStatus
from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation
from amgs_app.server.asking import Asked, ByCaller, check_right
from amgs_app.server.hosting import Lane
from amgs_app.server.request_model import EXPLAINED, request_model
from amgs_app.server.routes import Route
from amgs_app.session.operator import Operator


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
    """Return the operation with its shortened plain answer, made before secrets are masked to save that work."""
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
