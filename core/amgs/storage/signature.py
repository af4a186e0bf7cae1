"""Signature of a change: its author and means, for the other programs on the store. It holds no text of the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_SAID: ContextVar[Mapping[str, str]] = ContextVar("signature", default={})  # noqa: B039 - never changed


@contextmanager
def signed(**words: str) -> Iterator[None]:
    """Yield whatever this thread commits inside is told with these words; those of an outer signature stand.

    by: the program that makes the change where nobody asked for it; the journal says so too.
    """
    before = _SAID.set({**words, **_SAID.get()})
    try:
        yield
    finally:
        _SAID.reset(before)


def signature() -> Mapping[str, str]:
    """Return the words for what this thread commits now."""
    return _SAID.get()
