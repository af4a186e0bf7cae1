"""Errors of the recorder."""

from __future__ import annotations

from amgs.errors import AmgsError


class BodyError(AmgsError):
    """A body that cannot be accepted. status: HTTP status of the response."""

    title = "The body was not taken"
    exit_code = 3

    def __init__(self, message: str, *, status: int = 400, way_out: str = "") -> None:
        super().__init__(message, way_out=way_out)
        self.status = status
