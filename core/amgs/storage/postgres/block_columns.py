"""Columns of `memory_blocks` that PostgreSQL gives in a way of its own: embeddings, and traits of texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import numpy as np

from amgs.errors import StoreCorruptError
from amgs.storage.block_columns import BlockColumnStorage, EmbeddingColumns, FeatureColumns
from amgs.storage.filters import where
from amgs.types import BlockFilter, Vector

# As in a file: what the source says, else a name before a colon at the very start ("Mara Lind: …").
_NAME = r"[^\W\d_][\w.'’-]*"
_SPEAKER = re.compile(rf"({_NAME}(?: {_NAME}){{0,2}}):\s")
_PLACE = re.compile(r"(#[0-9]+){1,2}$")
_ENDS = re.compile(r"[.!?…]")
_ASKS = re.compile(r"\?[^.!?…]*$")


class PostgresBlockColumns(BlockColumnStorage):
    """`BlockColumnStorage` in PostgreSQL."""

    def traits(self, *, since: int = -1) -> FeatureColumns:
        found = self._connection.rows(
            "SELECT number, content, meta->>'source', meta->>'speaker', meta->>'author' FROM memory_blocks "
            "WHERE revision > ? ORDER BY number",
            [since],
        )
        texts = [str(row[1]) for row in found]
        asking = ["?" in text for text in texts]
        return FeatureColumns(
            numbers=np.asarray([row[0] for row in found], dtype=np.int64),
            episode=np.asarray([_episode(row[2]) for row in found], dtype=np.uint64),
            name=tuple(
                str(
                    row[3] if row[3] is not None else row[4] if row[4] is not None else _speaker(row[1])
                ).lower()
                for row in found
            ),
            characters=np.asarray([len(text.encode()) for text in texts], dtype=np.int64),
            questions=np.asarray([text.count("?") for text in texts], dtype=np.int64),
            sentences=np.asarray(
                [len(_ENDS.findall(text)) if asks else 0 for text, asks in zip(texts, asking, strict=True)],
                dtype=np.int64,
            ),
            asks=np.asarray([_ASKS.search(text) is not None for text in texts], dtype=np.bool_),
        )

    def embeddings(
        self,
        *,
        since: int = -1,
        wanted: BlockFilter | None = None,
        above: int = 0,
        upto: int | None = None,
    ) -> EmbeddingColumns:
        condition, parameters = where(wanted) if wanted is not None else ("true", [])
        if upto is not None:
            condition += f" AND number > {int(above)} AND number <= {int(upto)}"
        found = self._connection.rows(
            f"SELECT number, id, embedding FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ? "
            f"AND {condition} ORDER BY number",
            [since, *parameters],
        )
        if len({len(row[2]) for row in found}) > 1:
            raise StoreCorruptError(
                "Its embeddings have different lengths.",
                way_out="Verify the store to see which blocks.",
                about="check",
            )
        return EmbeddingColumns(
            np.asarray([row[0] for row in found], dtype=np.int64),
            np.asarray([row[1] for row in found], dtype=object),
            np.stack([row[2] for row in found]) if found else np.zeros((0, 0), dtype=np.float32),
        )

    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        last = 0
        while found := self._connection.rows(
            "SELECT number, id, content, embedding FROM memory_blocks WHERE number > ? ORDER BY number LIMIT ?",
            [last, batch],
        ):
            last = int(found[-1][0])
            yield [(str(row[1]), str(row[2]), row[3]) for row in found]

    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        held = self.embeddings()
        if not held.numbers.size:
            return []
        lengths = np.linalg.norm(held.matrix, axis=1) * np.linalg.norm(query)
        cosine = held.matrix @ query / np.where(lengths > 0, lengths, np.inf)
        best = np.lexsort((held.numbers, -cosine))[:limit]
        return [(int(held.numbers[place]), float(cosine[place])) for place in best]


def _episode(source: str | None) -> int:
    """A number of the source without its part, 0 for none."""
    if source is None:
        return 0
    name = _PLACE.sub("", source)
    return int.from_bytes(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def _speaker(content: str) -> str:
    """The name before a colon at the very start, each of its words with a capital; "" for none."""
    found = _SPEAKER.match(content)
    if found is None or not all(word[0].isupper() for word in found[1].split(" ")):
        return ""
    return found[1]
