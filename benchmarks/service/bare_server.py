"""The control of the service: FastAPI over bm25s, an exact product of all vectors and MiniLM, and no memory behind it.

`python -m benchmarks.service.bare_server STORE FOLDER`: the texts and vectors of a store, the index of words kept in a
folder. It answers a search with ids and texts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from amgs.storage.opening import open_storage
from amgs.text.bert import one_thread
from amgs.text.minilm import MiniLM
from amgs_app.server.running import listen
from benchmarks.search_beside import Bm25sAndNumpy

app = FastAPI()


class Asked(BaseModel):
    """The body of a search."""

    query: str
    top_k: int = 10


@app.post("/v1/memory/search")
def search(asked: Asked) -> list[dict[str, str]]:
    """The best hits, in falling order."""
    return [app.state.blocks[row] for row in app.state.index.search(asked.query, asked.top_k)]


@app.get("/healthz")
def healthz() -> dict[str, Any]:
    """Whether it answers."""
    return {"status": "ok"}


def main(store: Path, folder: Path) -> None:
    """Read everything into memory, and serve it until interrupted."""
    with open_storage(store, read_only=True) as raw:
        numbers = raw.block_columns.read_embedded()
        matrix = np.zeros((numbers.size, MiniLM().dimension), dtype=np.float32)
        for part in raw.block_columns.embedding_batches():
            matrix[np.searchsorted(numbers, part.numbers)] = part.matrix
        blocks = [
            {"id": one.block.id, "content": one.block.content}
            for start in range(0, numbers.size, 10_000)
            for one in raw.blocks.by_number(numbers[start : start + 10_000].tolist())
        ]
    app.state.blocks = blocks
    app.state.index = Bm25sAndNumpy((each["content"] for each in blocks), matrix, MiniLM(), folder)
    listening = listen("127.0.0.1", 0)
    sys.stderr.write(f"Serving on http://127.0.0.1:{listening.getsockname()[1]}\n")
    with one_thread():
        uvicorn.Server(uvicorn.Config(app, log_config=None)).run(sockets=[listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
