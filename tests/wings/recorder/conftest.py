"""A receiver of spans that runs in a thread and writes to a folder of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.wings.recorder.bodies import SpanWriter
from amgs.wings.recorder.receiver import SpanReceiver

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[SpanReceiver]:
    with SpanWriter(tmp_path) as writer, SpanReceiver(writer, lambda: NOW, 0) as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield made
        made.shutdown()
