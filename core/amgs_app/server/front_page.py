"""The page and the start-up lines that say what a server serves and what to paste next.

The page needs no token, so it reveals nothing of the memory; with tokens in use, not even the store's name.
"""

from __future__ import annotations

from html import escape
from typing import Final, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from amgs_app import __version__
from amgs_app.server.asking import Service

Kind = Literal["service", "gateway"]

router = APIRouter(include_in_schema=False)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>AMGS {kind}</title>
<style>body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }}</style>
</head>
<body>
<h1>AMGS {kind}</h1>
<p>{serves} Version {version}.</p>
<pre>{lines}</pre>
<p><a href="/v1/openapi.json">/v1/openapi.json</a> describes every request and its answer.
<a href="/healthz">/healthz</a> says whether the service is alive, <a href="/metrics">/metrics</a> counts what it
did.</p>
</body>
</html>
"""


def to_paste(kind: Kind, address: str, *, several: bool = False, tokens: bool = False) -> tuple[str, ...]:
    """Return the lines to paste next. several: a namespace must follow the address. tokens: a token is needed."""
    connect = f"amgs --connect {address}{'/NAMESPACE' if several else ''}"
    if kind == "gateway":
        lines = [f"Set OPENAI_BASE_URL={address}/v1 in your agent,", f"and watch with: {connect}"]
    else:
        lines = [f"Watch with: {connect}", f"Every request: {address}/v1/openapi.json"]
    if tokens:
        agent = ", an agent's in the header AMGS-Token" if kind == "gateway" else ""
        lines.append(f"Put a token into AMGS_TOKEN{agent}.")
    return tuple(lines)


@router.get("/", operation_id="get_front_page")
def front_page(request: Request) -> Response:
    """Return a page for a browser, JSON for clients that ask for it."""
    service: Service = request.app.state.service
    namespaces, kind, closed = service.namespaces, service.kind, len(service.tokens) > 0
    address = str(request.base_url).rstrip("/")
    lines = to_paste(kind, address, several=namespaces.several, tokens=closed)
    between = " between agents and their model" if kind == "gateway" else ""
    serves = f"A memory{between}{'' if closed else f': {namespaces.name}'}."
    accepted = request.headers.get("accept", "")
    if "application/json" in accepted and "text/html" not in accepted:
        facts = {"serves": serves, "kind": kind, "version": __version__, "openapi": "/v1/openapi.json"}
        return JSONResponse(facts | {"next": lines})
    page = _PAGE.format(kind=kind, serves=escape(serves), version=__version__, lines=escape("\n".join(lines)))
    return HTMLResponse(page)
