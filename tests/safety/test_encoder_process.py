"""Many texts are embedded in a process of their own: no question waits for it, and its end is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from amgs.errors import ModelError
from amgs.text.encoder_process import EncoderLoadError, EncoderProcess
from amgs.text.minilm import MiniLM

TEXTS = [f"Note {n} about the router in the attic, which drops packets when it rains." for n in range(8)]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """One whose process runs."""
    found = MiniLM()
    found._spent = 1_000_000
    found.embed(TEXTS)
    return found


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.real
def test_a_question_is_embedded_while_a_batch_stands_still(model: MiniLM) -> None:
    process = model._process
    assert process is not None and process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    found: list[object] = []
    many = threading.Thread(target=lambda: found.append(model.embed(TEXTS[:2])))
    many.start()
    try:
        until(process._lock.locked)
        assert model.embed(["What drops packets?"]).shape == (1, 384)
        assert not found
    finally:
        os.kill(process.pid, signal.SIGCONT)
    many.join()
    assert len(found) == 1


@pytest.mark.real
def test_a_process_that_was_killed_is_told_and_the_next_batch_has_another(model: MiniLM) -> None:
    before = model.embed(TEXTS)
    process = model._process
    assert process is not None and process.pid is not None
    killed = process.pid
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(ModelError, match="ended before it answered \\(signal 9\\)") as caught:
        model.embed(TEXTS)
    assert "another process is started" in caught.value.way_out
    assert np.array_equal(model.embed(TEXTS), before)
    assert process.pid != killed


@pytest.mark.real
def test_a_model_that_cannot_be_read_is_told_by_its_reason(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError):
        EncoderProcess(str(tmp_path), "float32").encode(["a text"])


def test_the_process_ends_where_the_program_was_killed() -> None:
    program = (
        "import time; from amgs.text.encoder_process import EncoderProcess; p = EncoderProcess('/a/model', 'float32'); "
        "print(p._running().pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": "core"}
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    until(lambda: not alive(pid))


@pytest.mark.real
def test_a_text_alone_gets_the_vector_it_gets_among_others() -> None:
    model = MiniLM(precision="float32")
    texts = [
        "Who keeps the dome key?",
        "",
        "  spaced \n out ",
        "long " * 2000,
        "The dome stood still. " * 40,
        "Émile's №5 — ça?",
        "a\0b",
    ]
    alone = np.stack([model.embed([text])[0] for text in texts])
    few = model.embed(texts)
    assert model._process is None
    model._spent = 1_000_000
    together = model.embed(texts)
    assert np.allclose(alone, together, atol=1e-4)
    assert np.allclose(few, together, atol=1e-4)
    assert np.allclose(model.embed(texts[:1])[0], alone[0], atol=1e-6)


@pytest.mark.real
def test_one_text_means_the_same_in_either_number_format() -> None:
    texts = ["Who keeps the dome key?", "", "The dome stood still. " * 40, "Émile's №5 — ça?"]
    exact, rounded = (
        np.stack([MiniLM(precision=form).embed([text])[0] for text in texts]) for form in ("float32", "bfloat16")
    )
    assert not np.array_equal(exact, rounded)
    assert (exact * rounded).sum(axis=1).min() > 0.9998
