"""Operation `conversation exchanges`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app import results
from amgs_app.calls.arguments import Limit
from amgs_app.calls.marks import Arg
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types.gateway import GatewayExchange
    from amgs_app.engine import Engine


@operation(
    "conversation exchanges",
    summary="List what agents asked their model through the gateway, or show one request whole.",
    example="conversation exchanges 3",
    pane="conversation",
)
def exchanges(
    engine: Engine,
    number: Annotated[
        int | None, Arg(metavar="NUMBER", min=1, help="A request, by its number in the list; default: list.")
    ] = None,
    *,
    limit: Limit = 50,
) -> results.ExchangeList | GatewayExchange:
    """List the latest requests of agents to their model that went through `amgs gateway`, newest first: how many tokens
    the agent sent, how many went on, how many the provider read from its cache, whether the system prompt or the tools
    changed since the request before, and what was said.

    With a NUMBER, show one whole: every message that the model was sent, what was left out and why, the beginning of
    its system prompt and the names of its tools (whole with `--format json`), what the provider's cache could serve of
    it, and what the model said. It is put together from the conversation and held against a digest of what was sent;
    where the two differ, that is said instead.

    The memory keeps the last 200 (`memory.conversation.exchanges` in the settings); no gateway need run.
    """
    if number is not None:
        return engine.memory.gateway.exchange(number)
    return results.ExchangeList(engine.memory.gateway.exchanges(limit), engine.gateway)
