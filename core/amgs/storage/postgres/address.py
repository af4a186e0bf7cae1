"""Address of a namespace in a database: `postgresql://user@host/database?namespace=name`.

The password belongs in the environment (PGPASSWORD), ~/.pgpass or a service file (`?service=name`), never in the
address: command lines are visible to all users, and addresses are shown and logged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from amgs.errors import UsageError

_NAMESPACE = re.compile(r"[a-z][a-z0-9_]{0,47}")
DEFAULT = "main"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is.

    shown: printable address. connection: string for libpq. named: the address names its namespace.
    """

    shown: str
    connection: str
    namespace: str
    named: bool = True

    @property
    def schema(self) -> str:
        """Name of the schema that holds the namespace."""
        return f"amgs_{self.namespace}"

    @classmethod
    def of(cls, text: str) -> Address:
        """Parse an address. Raises UsageError if it holds a password or an invalid namespace."""
        try:
            parts = urlsplit(text)
            secret = parts.password
            options = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError as error:
            raise UsageError(
                "The address of the database cannot be read.",
                way_out="Write it as postgresql://user@host/database?namespace=name.",
            ) from error
        if secret or "@" in parts.path or any(key in ("password", "sslpassword", "passfile") for key, _ in options):
            raise UsageError(
                "The address of the database holds a password, and addresses are shown.",
                way_out="Put the password in PGPASSWORD, in ~/.pgpass or in a service file, and leave it out here.",
            )
        namespace = dict(options).get("namespace", DEFAULT)
        if not _NAMESPACE.fullmatch(namespace):
            raise UsageError(
                f"{namespace!r} cannot be the name of a namespace.",
                way_out="Give a small letter, then up to 47 small letters, digits or underscores.",
            )
        place = parts.netloc.replace(":@", "@")
        rest = urlencode([(key, value) for key, value in options if key != "namespace"], safe="/")
        base = f"postgresql://{place}{parts.path}"
        connection = f"{base}?{rest}" if rest else base
        return cls(_append_namespace(connection, namespace), connection, namespace, "namespace" in dict(options))

    def with_namespace(self, namespace: str) -> Address:
        """Return another namespace of the same database; raises UsageError if this address names a namespace, or the
        name is invalid.
        """
        if self.named:
            raise UsageError(
                f"{self.shown} already names a namespace of the database.",
                way_out="Leave the namespace out of the address where all of them are meant.",
            )
        return Address.of(_append_namespace(self.connection, namespace))


def _append_namespace(connection: str, namespace: str) -> str:
    return f"{connection}{'&' if '?' in connection else '?'}namespace={namespace}"
