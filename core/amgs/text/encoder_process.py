"""Run the sentence encoder of sentence-transformers in another process, at lower priority, to embed many
texts.

In this process its threads would compete with searches for the interpreter and the cores. The first batch
starts it, not through `multiprocessing`, which would run the user's script again; it ends with this process,
or with the last encoder that uses it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import IO, Any, Final

import numpy as np

from amgs.errors import ModelError
from amgs.text.bert import number_format
from amgs.text.torch_library import IMPORTING, open_ahead
from amgs.types import Vector


class LibraryEncoder:
    """The model in a folder. precision: `auto`, `float32` or `bfloat16`. Raises ImportError, OSError or ValueError
    where it cannot be read.
    """

    def __init__(self, folder: str, precision: str) -> None:
        with IMPORTING:
            open_ahead()
            torch = importlib.import_module("torch")
            library = importlib.import_module("sentence_transformers")
            # A bar that a library draws would land in the screen's own picture.
            importlib.import_module("transformers.utils.logging").disable_progress_bar()
        self._model: Any = library.SentenceTransformer(
            folder,
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, number_format(precision))},
        )

    @property
    def dimension(self) -> int:
        return int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> Vector:
        """Return (n, d) float32, not scaled to unit length; all texts as a single batch."""
        encoded = self._model.encode(
            list(texts), batch_size=len(texts), convert_to_tensor=True, show_progress_bar=False
        )
        return np.asarray(encoded.float().cpu().numpy(), dtype=np.float32)


NICE: Final = 5
"""Its niceness: beside a search it gets a quarter of a core, beside other work half its share."""
_WAIT: Final = 1.0
"""Seconds in which it may end by itself before it is killed."""
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from amgs.text.encoder_process import serve; serve()"
_SIZE = struct.Struct("<Q")
_SHAPE = struct.Struct("<QQ")
_SHARED: weakref.WeakValueDictionary[tuple[str, str], EncoderProcess] = weakref.WeakValueDictionary()
_SHARING = threading.Lock()


class EncoderLoadError(Exception):
    """The process could not read the model; the message says why."""


class EncoderProcess:
    """The process for the model in a folder (`LibraryEncoder`). It takes a batch at a time; other callers wait."""

    def __init__(self, folder: str, precision: str) -> None:
        self._arguments = [folder, precision]
        self._lock = threading.Lock()
        self._child: list[subprocess.Popen[bytes]] = []
        self._ended = weakref.finalize(self, _end, self._child)

    @property
    def pid(self) -> int | None:
        """The process id; None before the first batch and after it has ended."""
        return self._child[0].pid if self._child else None

    def encode(self, texts: Sequence[str]) -> Vector:
        """Return vectors (n, d), float32, not of unit length.

        Raises EncoderLoadError where the model cannot be read, ModelError where the process ended; the next call starts
        a new process.
        """
        with self._lock:
            try:
                child = self._running()
                _send(child.stdin, json.dumps(list(texts)).encode())
                answer = _receive(child.stdout)
            except (OSError, EOFError) as error:
                raise _make_exit_error(_end(self._child)) from error
            except BaseException:  # an answer that nobody has read would be taken for the next answer
                _end(self._child, wait=0.0)
                raise
        kind, payload = answer[:1], answer[1:]
        if kind == b"v":
            rows, width = _SHAPE.unpack_from(payload)
            return np.frombuffer(payload, dtype="<f4", offset=_SHAPE.size).reshape(rows, width).astype(np.float32)
        if kind == b"l":
            raise EncoderLoadError(payload.decode())
        raise ModelError(
            f"The texts could not be embedded: {payload.decode()}",
            way_out="Try again with fewer texts at a time, or with another encoder.",
        )

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process, started where there is none."""
        if not self._child:
            self._child.append(
                subprocess.Popen(
                    [sys.executable, "-c", _START, json.dumps(sys.path), *self._arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    # Threads that wait for each other spin otherwise, on cores that somebody else could use.
                    env={**os.environ, "OMP_WAIT_POLICY": "passive", "TOKENIZERS_PARALLELISM": "false"},
                )
            )
        return self._child[0]


def encoder_process(folder: str, precision: str) -> EncoderProcess:
    """Return the process for a model; all encoders of this program share it."""
    with _SHARING:
        process = _SHARED.get((folder, precision))
        if process is None:
            process = _SHARED[folder, precision] = EncoderProcess(folder, precision)
        return process


def _end(children: list[subprocess.Popen[bytes]], *, wait: float = _WAIT) -> int:
    """End the process and return its exit status; negative for a signal."""
    if not children:
        return 0
    child = children.pop()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        return child.wait(wait)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _make_exit_error(status: int) -> ModelError:
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return ModelError(
        f"The process that embeds texts ended before it answered ({how}).",
        title="The encoder ended",
        way_out="Finished batches are saved. Do the same again: another process is started. "
        "If it ends again, there may be too little memory.",
    )


def _send(pipe: IO[bytes] | None, content: bytes) -> None:
    if pipe is None:
        raise EOFError
    pipe.write(_SIZE.pack(len(content)) + content)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes:
    """Return a message from the pipe; raise EOFError where the other side has ended."""
    return _exactly(pipe, _SIZE.unpack(_exactly(pipe, _SIZE.size))[0])


def _exactly(pipe: IO[bytes] | None, size: int) -> bytes:
    data = b"" if pipe is None else pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


# --- in the process ---------------------------------------------------------------------------------------


def serve() -> None:
    """Answer batches until the other side has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it is interrupted, and ends it
    if hasattr(os, "nice"):
        os.nice(NICE)
    _, _, folder, precision = sys.argv
    asked = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what a library prints must not come between the answers
        with suppress(EOFError, BrokenPipeError):
            while True:
                _send(answers, _answer(_receive(asked), folder, precision))


def _answer(asked: bytes, folder: str, precision: str) -> bytes:
    """Return the reply to a batch: `v` with the vectors, `l` with an error of loading, `f` with any other error."""
    try:
        model = _model(folder, precision)
    except (ImportError, OSError, ValueError) as error:
        return b"l" + str(error).encode()
    try:
        vectors = model.encode(json.loads(asked))
    except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is told of it
        return b"f" + f"{type(error).__name__}: {error}".encode()
    return b"v" + _SHAPE.pack(*vectors.shape) + vectors.astype("<f4").tobytes()


@cache
def _model(folder: str, precision: str) -> LibraryEncoder:
    return LibraryEncoder(folder, precision)
