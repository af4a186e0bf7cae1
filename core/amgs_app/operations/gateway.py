"""What went through a gateway: `conversation exchanges`, `conversation exchange`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs.errors import NotFoundError
from amgs_app.calls.marks import Arg
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results import ExchangeList

if TYPE_CHECKING:
    from amgs_app.engine import Engine
    from amgs_app.gateway_exchange import GatewayExchange


@operation(
    "conversation exchanges",
    summary="List what agents asked their model through the gateway.",
    pane="conversation",
)
def exchanges(engine: Engine, *, limit: Limit = 50) -> ExchangeList:
    """List the latest requests of agents to their model that went through `amgs gateway`, newest first: how many tokens
    the agent sent, how many went on, and what was said.

    The gateway keeps the last 200 since it began.
    """
    through = engine.exchanges
    return ExchangeList(() if through is None else through()[:limit], through is not None)


@operation("conversation exchange", summary="Show what a model had in front of it when it answered.")
def exchange(
    engine: Engine,
    number: Annotated[int, Arg(metavar="NUMBER", min=1, help="Of the request, in the list of exchanges.")],
) -> GatewayExchange:
    """Show one request through `amgs gateway` whole: every message that the model was sent, what was left out and why,
    and what it said.
    """
    found = [] if engine.exchanges is None else engine.exchanges()
    for each in found:
        if each.number == number:
            return each
    raise NotFoundError(
        f"No request {number} is kept.", way_out="`conversation exchanges` lists those that are."
    )
