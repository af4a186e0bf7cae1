"""`MemoryClient`: a served memory, asked from a program that waits for each answer."""

from __future__ import annotations

from amgs.client.methods import put_names_on
from amgs.client.transport import BlockingTransport


class MemoryClient(BlockingTransport):
    """A served memory, by the names that `Memory` has in the process.

    Answers are the engine's own frozen values, and what the engine would raise is raised here; a service that does not
    answer raises UnreachableError. Requests that may be repeated are tried again, with growing waits that chance
    spreads; one that changes the memory carries an idempotency key, so that trying again does nothing twice.

    Use it as a context manager, or close it. It may be called from any thread.
    """


globals().update(put_names_on(MemoryClient))
