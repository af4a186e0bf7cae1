"""What a caller may name: no operation that is reached over the service, MCP or attach takes an address, a path or a
program to which anything stored or a key goes, but for those that this table names with the reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from pydantic import ValidationError

from amgs.client import MemoryClient
from amgs.errors import AmgsError, UsageError, hide_secrets
from amgs.storage.postgres.address import Address
from amgs_app.attached.connection import AttachedConnection
from amgs_app.calls.marks import Parameter, split_annotation
from amgs_app.calls.operation import Operation, Right, call_from_json
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.gateway.upstream import Upstream
from amgs_app.models.model_server import ModelServer
from amgs_app.server.routes import file_parameters, has_route, request_model, routes
from amgs_app.server.span_export import SpanExport
from amgs_app.session import Operator
from tests.service.serving import NOW

PLACE = re.compile(
    r"\b(url|uri|address|server|upstream|host|port|path|paths|file|files|folder|dir|directory|program|command|script|"
    r"socket|endpoint|webhook|bucket|send)\b",
    re.IGNORECASE,
)
"""Words by which a parameter says that it names a place."""
SAFE: dict[tuple[str, str], tuple[Right, str]] = {
    ("conversation add", "messages"): ("write", "the messages themselves; its file is closed to callers"),
    ("focus view", "find"): ("operate", "a path that a span tells; nothing is opened by it"),
    ("focus trace", "wandb"): ("operate", "a project; figures alone go there, by the operator's own account"),
    ("source delete", "source"): ("write", "the name of a source in the store; no file is touched"),
    ("source update", "source"): ("write", "only a file from which the operator took that source is read again"),
    ("source update", "text"): ("write", "the text itself; without it see `source`"),
    ("ingest", "source"): ("write", "a name; no file is opened by it"),
}
"""What a caller may name though it sounds like a place: the right that it needs, and why it is safe."""


def reached() -> list[tuple[Operation[..., object], Parameter]]:
    """Each parameter that a caller may give from elsewhere: over a route, a tool of MCP, or attached."""
    return [
        (operation, parameter)
        for operation in standard()
        if has_route(operation) or (not operation.of_operator and operation.place != "here")
        for parameter in operation.parameters
        if parameter.name not in file_parameters(operation)
    ]


def test_no_caller_names_a_place_but_those_of_the_table() -> None:
    named = {
        (operation.name, parameter.name): operation.right
        for operation, parameter in reached()
        if parameter.takes == "text"
        and split_annotation(operation.signature.parameters[parameter.name].annotation)[0] in (str, list[str])
        and any(map(PLACE.search, (parameter.name.replace("_", " "), parameter.label, parameter.help)))
    }
    assert named == {each: right for each, (right, _) in SAFE.items()}


def test_no_request_has_a_field_that_is_a_path() -> None:
    for route in routes(standard()):
        fields = request_model(route).model_fields
        assert not [name for name, field in fields.items() if "Path" in str(field.annotation)], route.path
        assert not file_parameters(route.operation) & set(fields)


def test_whoever_exports_imports_or_trains_operates() -> None:
    assert {standard()[name].right for name in ("export", "import")} == {"operate"}
    assert not {operation.name for operation in standard() if operation.name.startswith("focus train")} & {
        route.operation.name for route in routes(standard())
    }


def test_a_served_memory_opens_no_file_asks_no_address_and_starts_no_program_that_a_caller_names(
    tmp_path: Path,
) -> None:
    """Each text of each operation is given a planted path and a planted address."""
    secret = tmp_path / "planted-secret.md"
    secret.write_text("The key lies under the third stone.")
    heard: list[str] = []
    auditing = True

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if auditing and event in ("open", "socket.getaddrinfo", "socket.connect", "subprocess.Popen", "os.system"):
            heard.extend(f"{event} {each}" for each in arguments if "planted" in str(each))

    sys.addaudithook(hear)
    with closing(Engine(Options(store=":memory:", model="tiny", now=NOW))) as engine:
        engine.memory.ingest_text("The dome motor draws 4.5 ampere.")
        for operation in standard():
            if not has_route(operation) or operation.lane == "model" or operation.name in _LONG:
                continue
            for parameter in operation.parameters:
                if parameter.takes not in ("text", "frame", "entity") or parameter.name in file_parameters(operation):
                    continue
                for planted in (str(secret), f"file://{secret}", "http://planted.invalid/v1", "| touch planted"):
                    given = {each.name: ["x"] if each.many else "x" for each in operation.parameters if each.required}
                    given[parameter.name] = [planted] if parameter.many else planted
                    with suppress(AmgsError, ValidationError):
                        call_from_json(operation, given).apply(Operator(engine) if operation.of_operator else engine)
    auditing = False
    assert heard == []


_LONG = ("simulate",)
"""Draws a year many times, from settings alone."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:PLANTED@host/v1 is down", "http://…@host/v1 is down"),
        ("https://PLANTED@host", "https://…@host"),
        ("https://a:PLAN@TED@host", "https://…@host"),
        ("postgresql://me:PLANTED@host/db", "postgresql://…@host/db"),
        ("write it as postgresql://user@host/database", "write it as postgresql://user@host/database"),
        ("ask mail@example.org or http://host/x", "ask mail@example.org or http://host/x"),
    ],
)
def test_no_error_repeats_a_key_of_an_address(text: str, shown: str) -> None:
    assert hide_secrets(text) == shown
    assert shown in str(AmgsError(text)) and "PLANTED" not in str(UsageError("No.", way_out=text))


@pytest.mark.parametrize(
    "opens",
    [
        lambda address: Upstream(address),
        lambda address: ModelServer(address),
        lambda address: AttachedConnection(address),
        lambda address: MemoryClient(address),
        lambda address: SpanExport(address),
        lambda address: Address.of(address.replace("http", "postgresql")),
    ],
    ids=["upstream", "model.server", "connect", "client", "collector", "database"],
)
@pytest.mark.parametrize("address", ["http://me:PLANTED@host/v1", "http://me:PLAN/PLANTED@host"])
def test_no_address_with_a_password_is_taken_or_repeated(opens: Callable[[str], object], address: str) -> None:
    with pytest.raises(UsageError) as refused:
        opens(address)
    assert "PLANTED" not in str(refused.value)
