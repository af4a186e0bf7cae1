"""Every error of the service as a problem: those raised on purpose with their own words, a fault without any."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from amgs import wire
from amgs.errors import AmgsError, StaleError, TooMuchError
from amgs.problems import MEDIA_TYPE, fault, problem
from amgs_app.operations.remedies import way_out_of
from amgs_app.render.encode import plain
from amgs_app.server.asking import Service
from amgs_app.shell.output import intended

_KINDS = {404: "not-found", 413: "too-much"}
log = logging.getLogger("amgs.server")


def answer_errors(app: FastAPI) -> None:
    """Have the application answer every error with problem details."""

    async def refused(request: Request, error: Exception) -> Response:
        lossless = wire.MEDIA_TYPE in request.headers.get("Accept", "")
        form = wire.encode if lossless else plain
        more = {"changed": form(list(error.changed))} if isinstance(error, StaleError) else {}
        given = _without_paths(request, problem(error, way_out=way_out_of(error), **more))
        headers = {"WWW-Authenticate": "Bearer"} if given["status"] == 401 else {}
        if isinstance(error, TooMuchError) and error.retry_after:
            headers["Retry-After"] = str(error.retry_after)
        return _problem(given, headers)

    async def invalid(request: Request, error: Exception) -> Response:
        del request
        told = error.errors() if isinstance(error, RequestValidationError) else []
        places = [".".join(str(step) for step in each["loc"][1:]) for each in told]
        sentences = [
            f"{place}: {each['msg']}" if place else each["msg"]
            for place, each in zip(places, told, strict=True)
        ]
        return _problem(
            {
                "type": "urn:amgs:problem:usage",
                "title": "The request cannot be read",
                "status": 422,
                "detail": "; ".join(sentences) or "The request is not what this path takes.",
                "way_out": "/v1/openapi.json says what each path takes.",
            }
        )

    async def unknown(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        told = str(error.detail) if isinstance(error, HTTPException) else ""
        given = {
            "type": f"urn:amgs:problem:{_KINDS.get(code, 'usage')}",
            "title": told or "Can't do that",
            "status": code,
            "detail": f"{request.method} {request.url.path}: {told.lower() or 'refused'}.",
            "way_out": "/v1/openapi.json lists every path.",
        }
        return _problem(given, dict(error.headers or {}) if isinstance(error, HTTPException) else None)

    async def faulty(request: Request, error: Exception) -> Response:
        if intended(error):  # the focus engine's errors, known by their shape
            return await refused(request, error)
        log.error("fault in %s %s", request.method, request.url.path, exc_info=error)
        return _problem(fault())

    app.add_exception_handler(AmgsError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(Exception, faulty)


def _without_paths(request: Request, given: dict[str, Any]) -> dict[str, Any]:
    """The problem without the folders of the machine that the server runs on."""
    service: Service = request.app.state.service
    folders = {str(each.files.parent) for each in service.namespaces.opened()} - {"", ".", "/"}
    for name in ("detail", "way_out"):
        for folder in folders:
            given[name] = given[name].replace(f"{folder}/", "")
    return given


def _problem(given: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    body = json.dumps(given, ensure_ascii=False).encode()
    return Response(body, given["status"], dict(headers or {}), MEDIA_TYPE)
