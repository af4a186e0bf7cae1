"""Protect a server without tokens from web pages in the user's browser: from cross-site requests, and from host names
that an attacker points at this machine (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse

from amgs.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class ForeignPages:
    """Middleware that refuses requests whose Host or Origin header does not name this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not (because := explain_refusal(scope)):
            await self._app(scope, receive, send)
            return
        problem = {
            "type": "urn:amgs:problem:forbidden",
            "title": "Not from another machine",
            "status": 403,
            "detail": because,
            "way_out": "Ask 127.0.0.1 or localhost, or serve with --tokens, which let others in.",
        }
        await JSONResponse(problem, 403, media_type=MEDIA_TYPE)(scope, receive, send)


def explain_refusal(scope: Scope) -> str:
    """Return why a request is refused; "" if it is allowed."""
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or not of_this_machine(f"//{hosts[0]}"):
        return "This server goes by no other names than those of its own machine."
    for name, value in scope["headers"]:
        if name == b"origin" and not of_this_machine(value.decode("latin-1")):
            return "A page of another machine may not use this memory."
    return ""


def of_this_machine(address: str) -> bool:
    """Return whether an address names this machine: localhost or a loopback IP."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
