"""Parts of a store in a database, and a change of a store that several programs share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamespaceSize:
    """A namespace of a database. blocks: of the open one as they are, of another as PostgreSQL last estimated them,
    None where it never did. bytes: of its tables and their indexes. changes: the change counter of the open one; that
    of another is not asked.
    """

    name: str
    blocks: int | None
    bytes: int
    changes: int | None = None


@dataclass(frozen=True, slots=True)
class StoreTopology:
    """namespace: where the memory lies in a database."""

    namespace: NamespaceSize


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
