"""Parts of a store in a database, and changes of a store that several programs share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamespaceSize:
    """A namespace of a database.

    blocks: actual for the open one, else PostgreSQL's estimate, None without one. bytes: of tables and indexes.
    changes: change counter of the open one, else None.
    """

    name: str
    blocks: int | None
    bytes: int
    changes: int | None = None


@dataclass(frozen=True, slots=True)
class StoreTopology:
    """namespace: where the memory is in a database."""

    namespace: NamespaceSize


@dataclass(frozen=True, slots=True)
class StoreChange:
    """A change of a shared store.

    revision: change counter after it. program: process that made it, and its machine. operation, caller, client,
    server: what was done, by whom, the client's id for it, and the server; "" if unknown.
    """

    revision: int
    program: str
    operation: str = ""
    caller: str = ""
    client: str = ""
    server: str = ""
