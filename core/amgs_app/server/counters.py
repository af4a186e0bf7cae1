"""The service's counters, as Prometheus reads them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Counters:
    """Requests by operation and outcome, and how long they took; one registry a server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "amgs_requests", "Calls of operations.", ("operation", "outcome"), registry=self.registry
        )
        self._seconds = Histogram(
            "amgs_request_seconds",
            "How long calls took, waiting included.",
            ("operation",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def count(self, operation: str, outcome: str, seconds: float) -> None:
        """Note one call. outcome: done, refused or failed."""
        self._requests.labels(operation, outcome).inc()
        self._seconds.labels(operation).observe(seconds)
