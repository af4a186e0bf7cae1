"""The table of routes: which operation answers which request.

Every operation has the route `POST /v1/operations/NAME` with its parameters by name; requests that AMGS §11.2 names are
the same operations under other paths. Operations that read or write files, or work on one person's view, have no route
for other clients: an attached workstation runs the latter itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from amgs_app.calls.operation import Operation, Right
from amgs_app.calls.registry import Registry

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Route:
    """A request and the operation that answers it.

    path: with parameter names in braces. renamed: pairs of a path name and the parameter it sets. tag: group in the
    documentation. identifier: the operation id.
    """

    method: Method
    path: str
    operation: Operation[..., Any]
    tag: str
    right: Right
    renamed: tuple[tuple[str, str], ...] = ()
    identifier: str = ""

    @property
    def asks_in_query(self) -> bool:
        """Return whether the parameters are in the query instead of a body."""
        return self.method in ("GET", "DELETE")

    @property
    def in_path(self) -> tuple[str, ...]:
        """Names of the parameters in the path."""
        renamed = dict(self.renamed)
        named = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return tuple(renamed.get(name, name) for name in named)


NAMED: Final[tuple[tuple[Method, str, str, tuple[tuple[str, str], ...]], ...]] = (
    ("GET", "/v1/memory/{id}", "block show", (("id", "block"),)),
    ("PATCH", "/v1/memory/{id}", "block set", (("id", "block"),)),
    ("POST", "/v1/memory/reinforce", "block reinforce", ()),
    ("POST", "/v1/memory/search", "search", ()),
    ("POST", "/v1/frame/assemble", "frame assemble", ()),
    ("GET", "/v1/frame/definitions", "frame list", ()),
    ("POST", "/v1/frame/define", "frame define", ()),
    ("PUT", "/v1/frame/define/{name}", "frame define", ()),
    ("POST", "/v1/frame/compose", "frame define", ()),
    ("GET", "/v1/frame/{name}/cached", "frame cached", ()),
    ("POST", "/v1/graph/edge", "edge set", ()),
    ("DELETE", "/v1/graph/edge", "edge remove", ()),
    ("GET", "/v1/graph/neighbours/{id}", "graph neighbours", (("id", "block"),)),
    ("GET", "/v1/graph/centrality/{id}", "graph inspect", (("id", "block"),)),
    ("GET", "/v1/graph/stats", "graph stats", ()),
    ("POST", "/v1/lifecycle/consolidate", "consolidate", ()),
    ("POST", "/v1/lifecycle/enhance", "enhance", ()),
    ("POST", "/v1/lifecycle/prune", "prune", ()),
    ("POST", "/v1/lifecycle/calibrate", "calibrate", ()),
    ("GET", "/v1/lifecycle/status", "status", ()),
)
"""Requests that §11.2 names: method, path, operation, renamed path parameters. Ingest and deletion have their own
handlers.
"""


def has_route(operation: Operation[..., Any]) -> bool:
    """Return whether the operation has a route: everyone may call it, and it needs no file of the machine."""
    return operation.for_everyone and not any(
        parameter.takes in ("file", "folder") and parameter.required for parameter in operation.parameters
    )


def file_parameters(operation: Operation[..., Any]) -> frozenset[str]:
    """Return the parameters that name files or folders of the server's machine, which clients may not give."""
    return frozenset(parameter.name for parameter in operation.parameters if parameter.takes in ("file", "folder"))


def routes(registry: Registry) -> tuple[Route, ...]:
    """Return all routes of operations, those of the specification first."""
    named = tuple(
        Route(
            method, path, registry[name], path.split("/")[2], registry[name].right, renamed, _identifier(method, path)
        )
        for method, path, name, renamed in NAMED
    )
    every = tuple(
        Route(
            "POST",
            f"/v1/operations/{operation.identifier}",
            operation,
            "operations",
            operation.right,
            (),
            operation.identifier,
        )
        for operation in registry
        if has_route(operation)
    )
    return named + every


def _identifier(method: Method, path: str) -> str:
    """Return the id of a route in the documentation: `post_memory_search`."""
    words = [part for part in path.removeprefix("/v1/").split("/") if not part.startswith("{")]
    return "_".join([method.lower(), *words])
