"""Who may use a namespace of a database: `namespace show`, `namespace grant`, `namespace revoke`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.storage.access import NamespaceAccess
    from amgs_app.engine import Engine


Role = Annotated[str, Arg(metavar="ROLE", help="A role of the PostgreSQL server, as it logs in.")]


@operation(
    "namespace show",
    place="here",
    summary="Show which roles may use the namespace, and what is not protected.",
    example="namespace show",
)
def show_namespace(engine: Engine) -> NamespaceAccess:
    """Show which roles use the namespace that --store names, whom else somebody granted something in it, tables whose
    rows no policy keeps, and the roles that no policy binds.
    """
    from amgs.storage.access import access_of

    return access_of(str(engine.store_path))


@operation(
    "namespace grant",
    place="here",
    summary="Let a role use the namespace, and hide its rows from all others.",
    example="namespace grant reader",
)
def grant(engine: Engine, role: Role) -> NamespaceAccess:
    """Let ROLE read and write the namespace that --store names.

    The first time, the namespace is given to a role of its own, row-level security is turned on for every table, and
    what was granted otherwise is revoked; whoever owned it stays let in. Asks for a connection that owns the namespace
    and may make roles (CREATEROLE).
    """
    from amgs.storage.access import grant as let_in

    return let_in(str(engine.store_path), role)


@operation(
    "namespace revoke",
    place="here",
    summary="Stop a role from using the namespace.",
    example="namespace revoke reader",
)
def revoke(engine: Engine, role: Role) -> NamespaceAccess:
    """Take back what `namespace grant` gave; connections that are open see no row from then on."""
    from amgs.storage.access import revoke as let_out

    return let_out(str(engine.store_path), role)
