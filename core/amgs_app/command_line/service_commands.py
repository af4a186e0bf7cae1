"""Commands that run until interrupted: `serve`, `gateway`, `mcp`, `agents`; and `token new`.

Each imports its modules inside the function.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs import extras
from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Configuration, Option
from amgs_app.command_line.front_ends import Globals
from amgs_app.shell.output import say

if TYPE_CHECKING:
    from amgs_app.engine import Options

Host = Annotated[str, Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free port.")]
Root = Annotated[
    str | None,
    Option(
        "--root",
        metavar="DIR|ADDRESS",
        help="A folder with one store a namespace, or a database (postgresql://…) with one schema a namespace; "
        "instead of --store.",
    ),
]
TokenFile = Annotated[Path | None, Option("--tokens", metavar="FILE", help="Who may do what; `token new` writes it.")]


Otlp = Annotated[
    str,
    Option("--otlp", metavar="URL", help="Tell an OpenTelemetry collector what is asked, as spans by OTLP over HTTP."),
]


def serve_memory(
    *,
    host: Host = "127.0.0.1",
    port: Port = 8420,
    root: Root = None,
    tokens: TokenFile = None,
    largest: Annotated[float, Option("--largest", metavar="MIB", min=0.01, help="MiB that a request may have.")] = 32,
    rate: Annotated[
        float, Option("--rate", metavar="N", min=0.01, help="Requests a second of a caller, over time.")
    ] = 500,
    patience: Annotated[
        float, Option("--patience", metavar="S", min=0.01, help="Seconds that a question may take.")
    ] = 60,
    otlp: Otlp = "",
    options: Globals,
) -> int:
    """Serve the memory to other programs over HTTP (http://127.0.0.1:8420), while it can be watched.

    It owns a store in a file until it ends; a store in PostgreSQL may be served by several. On another address than
    this machine's own it asks for tokens.
    """
    with extras.explain_missing("server"):
        from amgs_app.server.limits import Limits
        from amgs_app.server.running import serve

    _check_owner(options, root)
    return serve(
        _resolve_options(options),
        host=host,
        port=port,
        root=root,
        tokens=tokens,
        limits=Limits(int(largest * 2**20), rate, patience),
        otlp=otlp,
    )


def serve_gateway(
    *,
    upstream: Annotated[
        str, Option("--upstream", metavar="URL|own", help="The model's server; `own` for this program's model.")
    ],
    budget: Annotated[
        int | None, Option("--budget", metavar="N", min=1, help="Tokens of a request; without it everything is sent.")
    ] = None,
    configuration: Configuration = "default",
    host: Host = "127.0.0.1",
    port: Port = 8420,
    root: Root = None,
    tokens: TokenFile = None,
    otlp: Otlp = "",
    options: Globals,
) -> int:
    """Stand between an agent and its model: remember what they say, and send what fits into --budget.

    Give the agent http://127.0.0.1:8420/v1 as the address of its model; it speaks as before, in the way of OpenAI (chat
    completions, responses) or Anthropic (messages). Without --budget the gateway only observes. The memory is served
    beside, so that `amgs --connect` shows what the model had in front of it. Whatever becomes of the memory, a request
    goes on.
    """
    from amgs_app.gateway.running import serve

    _check_owner(options, root)
    engine_options = _resolve_options(options)
    return serve(
        engine_options, upstream, budget or 0, configuration, host=host, port=port, root=root, tokens=tokens, otlp=otlp
    )


def _resolve_options(options: Globals) -> Options:
    """Return the engine options for the user's own memory, and print a line on each ignored setting."""
    from amgs_app.settings import find_ignored

    engine_options = replace(options, own=True).options()
    for line in find_ignored(engine_options.settings):
        say(line)
    return engine_options


def _check_owner(options: Globals, root: str | None) -> None:
    """Raise UsageError if the stores to serve are served by another process, read-only, or named twice."""
    if options.connect:
        raise UsageError("--connect names a memory that is served already.", way_out="Leave it out.")
    if options.read_only:
        raise UsageError(
            "A memory that is served is open for writing.",
            way_out="Leave --read-only out, and give who may only read a token for that: `amgs token new`.",
        )
    if root is not None and options.store is not None:
        raise UsageError("--root and --store exclude each other.", way_out="Give only one.")


def speak_mcp(*, options: Globals) -> int:
    """Answer an agent that speaks MCP on standard input and output, with seven tools.

    Several agents may each run it on a single memory: the first has the store open, the others go through that process.
    Where it is served, give them `amgs mcp --connect URL`, or the address URL/mcp.
    """
    with extras.explain_missing("server"):
        from amgs_app.attached.connection import place_of
        from amgs_app.server import mcp_stdio
    engine_options = _resolve_options(options)
    if engine_options.connect:
        return mcp_stdio.relay(*place_of(engine_options.connect), engine_options.token)
    return mcp_stdio.speak(engine_options)


def run_agents(
    names: Annotated[
        list[str] | None, Arg(metavar="AGENT", help="Which of them; all of them if none is named.")
    ] = None,
    *,
    watch: Annotated[
        Path | None, Option("--watch", metavar="DIR", help="The folder that the ingestion agent watches.")
    ] = None,
    apply: Annotated[bool, Option("--apply", help="Carry enhancements out instead of proposing them.")] = False,
    once: Annotated[bool, Option("--once", help="Run what is due now, and end.")] = False,
    every: Annotated[float, Option("--every", metavar="S", min=0.1, help="Seconds between two looks.")] = 5.0,
    options: Globals,
) -> int:
    """Run the agents that keep a served memory, until interrupted.

    They go through the public API of --connect (http://127.0.0.1:8420) like any other client, each when it is due:
    ingestion every 5 seconds, consolidation each minute, attention hourly, curation daily, enhancement weekly.
    """
    import time

    with extras.explain_missing():
        from amgs.client import MemoryClient
        from amgs.client.transport import ADDRESS
        from amgs_app import agents
        from amgs_app.attached.connection import place_of

    def wait() -> bool:
        if not once:
            time.sleep(every)
        return not once

    engine_options = options.options()
    address, namespace = place_of(engine_options.connect or ADDRESS)
    with MemoryClient(address, token=engine_options.token, namespace=namespace, timeout=600) as client:
        agents.run(client, names or (), agents.Orders(watch, apply), now=time.monotonic, say=say, wait=wait)
    return 0


def new_token(
    name: Annotated[str, Arg(metavar="NAME", help="Whose token it is: reader, agent-7.")],
    *,
    tokens: Annotated[Path, Option("--tokens", metavar="FILE", help="The file of tokens; created if missing.")],
    namespace: Annotated[
        list[str] | None,
        Option("--namespace", metavar="NAME", help="What it opens; may be repeated; without it `default`."),
    ] = None,
    may: Annotated[str, Option("--may", metavar="read|write|operate", help="What it allows.")] = "write",
    options: Globals,
) -> int:
    """Make a token for the service and print it once; the file keeps only its hash."""
    from amgs_app.server.tokens import add_token, check_right_name

    del options
    sys.stdout.write(f"{add_token(tokens, name, namespace or ['default'], check_right_name(may))}\n")
    return 0
