"""Signature of a change (who made it, by which command), for other programs on the store. It contains no text of the
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_SAID: ContextVar[Mapping[str, str]] = ContextVar("signature", default={})  # noqa: B039 - never changed


@contextmanager
def sign_commits(**words: str) -> Iterator[None]:
    """Sign what this thread commits while the block runs; words of an outer signature take precedence.

    by: the program that acts on its own; the journal records it too.
    """
    before = _SAID.set({**words, **_SAID.get()})
    try:
        yield
    finally:
        _SAID.reset(before)


def signature() -> Mapping[str, str]:
    """Return the signature of what this thread commits now."""
    return _SAID.get()
