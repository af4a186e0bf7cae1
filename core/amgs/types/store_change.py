"""A change of a store that several programs share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreChange:
    """revision: the change counter after it. program: the process that made it, and its machine. operation, caller,
    client, server: what was carried out, who asked for it, under which id of the client, of which server; "" where it
    was not said.
    """

    revision: int
    program: str
    operation: str = ""
    caller: str = ""
    client: str = ""
    server: str = ""
