"""All that an agent has of the memory: its public API, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import httpx2

from amgs import wire
from amgs.errors import UnreachableError
from amgs.problems import error_of

_PACKAGES = frozenset({"amgs", "amgs_app"})


class Api:
    """Operations of a served memory by name, with the frozen results that the engine gives. Raises what the engine
    raises, UnreachableError where nobody answers.
    """

    def __init__(self, address: str, token: str = "", namespace: str = "") -> None:
        headers = {"Accept": wire.MEDIA_TYPE}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"AMGS-Namespace": namespace} if namespace else {}
        self.address = address
        self._http = httpx2.Client(base_url=address, headers=headers, timeout=600, trust_env=False)

    def call(self, operation: str, **arguments: Any) -> Any:
        """What an operation of the table gives."""
        return self.post(f"/v1/operations/{operation.replace(' ', '_')}", arguments)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """What a request gives."""
        try:
            answer = self._http.post(path, json=dict(body))
        except httpx2.HTTPError as error:
            raise UnreachableError(
                f"Nobody answers at {self.address}: {error}.", way_out="Start the service with `amgs serve`."
            ) from error
        if answer.status_code >= 400:
            raise error_of(answer.json())
        return wire.loads(answer.content, _PACKAGES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
