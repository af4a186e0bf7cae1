"""Errors of packs beside the errors of every memory."""

from __future__ import annotations

from amgs.errors import UsageError


class UnknownPackError(UsageError):
    """No pack has this name, or it has no such version."""

    title = "No such pack"
