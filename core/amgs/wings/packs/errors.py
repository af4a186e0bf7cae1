"""Errors of packs, in addition to those of every memory."""

from __future__ import annotations

from amgs.errors import UsageError


class UnknownPackError(UsageError):
    """No pack has this name or version."""

    title = "No such pack"
