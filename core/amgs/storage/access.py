"""Who may use a namespace of a database: a role of its own, and policies on every row that bind its owner too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amgs.errors import UsageError
from amgs.extras import explained
from amgs.storage.opening import is_address

if TYPE_CHECKING:
    from amgs.storage.postgres.roles import NamespaceRoles


@dataclass(frozen=True, slots=True)
class NamespaceAccess:
    """Who may use a namespace.

    group: the role that owns it, whose members use it; "" while nobody was granted anything. members: roles that may
    log in and use it. granted: other roles that somebody granted something in it. unguarded: its tables whose rows no
    policy keeps. unbound: roles that no policy binds, superusers among them.
    """

    namespace: str
    group: str
    members: tuple[str, ...]
    granted: tuple[str, ...]
    unguarded: tuple[str, ...]
    unbound: tuple[str, ...]


def access_of(place: str) -> NamespaceAccess:
    """Who may use the namespace at an address. Raises UsageError for a file, StoreError for one that is not there."""
    return _roles(place).access()


def grant(place: str, role: str) -> NamespaceAccess:
    """Let a role use the namespace, and nobody else who was not let in so; policies keep its rows from then on.

    What was granted otherwise in the namespace is revoked; whoever owned it stays let in. Raises UsageError for a role
    that is not there, StoreError where whoever connects may not make or grant roles.
    """
    return _roles(place).grant(role)


def revoke(place: str, role: str) -> NamespaceAccess:
    """Stop a role from using the namespace; raises UsageError for one that was not granted it."""
    return _roles(place).revoke(role)


def _roles(place: str) -> NamespaceRoles:
    if not is_address(place):
        raise UsageError(
            f"{place} is a file, and has no roles.", way_out="Who may read a file is said by its permissions."
        )
    with explained():
        from amgs.storage.postgres.roles import NamespaceRoles
    return NamespaceRoles(place)
