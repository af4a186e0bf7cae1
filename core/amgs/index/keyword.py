"""Index the words of all blocks with tantivy, on disk beside the store or in memory.

The index is derived: a stamp beside it has the store's id, its change counter and a checksum of the files. `derived`
calls `catch_up` after every change. When opened, an index that is behind is caught up; an index that is damaged, of
another store or another FORMAT is built again.
"""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from tantivy import DocAddress, Document, Index, IndexWriter, Occur, Query, Schema, SchemaBuilder, Searcher

from amgs.index.arrays import Stamp, contains, difference, union
from amgs.index.lexical import Hit, LexicalIndex, StemPostings, Vocabulary, WeightedIdentifiers, WeightedStems
from amgs.index.terms import OPENING_SHARE, Identifier, extract_terms, is_common_term, term_analyzer
from amgs.types import Progress

FORMAT = 4
"""Version of the index; raise it when the schema or an analyzer changes, and old indexes are built again."""

_STEMS, _OPENING, _COMMON, _IDENTIFIERS = "stems", "opening", "common", "identifiers"
"""Fields: the commonest words have a field of their own, so that they do not count towards a text's length in BM25."""

_STAMP = "stamp.json"
_WRITER_BYTES = 30_000_000
_DELETED_AT_ONCE = 1000
_REPORT_EVERY = 200
"""Texts between two progress reports, some 50 ms."""

_CACHED_POSTINGS = 1000
"""Words whose postings are cached, since questions share most words."""

_LONGEST_CACHED = 2000
"""Documents, of 16 bytes each, up to which a word's postings are cached."""

_RARE = 20
"""A filter that passes fewer than 1 in so many documents becomes part of the query."""

Contents = Callable[[Sequence[int]], Iterable[tuple[int, str]]]
"""Reads (number, content) of blocks by their numbers."""


class KeywordIndex(LexicalIndex):
    """An open keyword index: `KeywordIndex.open` opens it, `catch_up` brings it up to date."""

    def __init__(self, directory: Path | None, index: Index, stamp: Stamp | None, *, read_only: bool) -> None:
        super().__init__()
        self._directory = directory
        self._read_only = read_only
        self._sealed = stamp
        self._index = index
        self._schema = index.schema
        self._stamp = stamp
        self._writer: IndexWriter | None = None
        self._copy = contextlib.ExitStack()
        self._vocabulary: Vocabulary | None = None
        self._refresh()
        self._known: NDArray[np.int64] | None = None
        self.compared = False
        """Whether `catch_up` has compared it with the store since it was opened."""

    @classmethod
    def open(cls, directory: Path | None, *, read_only: bool = False) -> KeywordIndex:
        """Open the index in a directory, which is created when missing; None: in memory.

        A damaged index, or an index of another format, is deleted and starts empty, and `catch_up` fills it. With
        `read_only` nothing on disk changes; a missing index is then built in memory. An index that cannot be written is
        read from a copy in a temporary folder.
        """
        stamp = _read_trusted_stamp(directory) if directory is not None else None
        if directory is not None and not (read_only and stamp is None):
            with contextlib.suppress(OSError, ValueError):
                if stamp is None and directory.exists():
                    shutil.rmtree(directory)
                if not read_only:
                    directory.mkdir(parents=True, exist_ok=True)
                return cls(directory, _index_in(directory), stamp, read_only=read_only)
            # Tantivy needs a lock in the directory even to read.
            with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as stack:
                copied = stack.enter_context(TemporaryDirectory())
                shutil.copytree(directory, copied, dirs_exist_ok=True)
                opened = cls(directory, _index_in(Path(copied)), stamp, read_only=True)
                opened._copy = stack.pop_all()
                return opened
        return cls(None, _register_tokenizer(Index(_schema())), None, read_only=False)

    def view(self) -> KeywordIndex:
        """Return the index as it is now, to be searched while this index changes; it is never written."""
        return copy.copy(self)

    @property
    def stamp(self) -> Stamp | None:
        """Stamp of the last catch-up; None for a new index."""
        return self._stamp

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of its documents, ascending: (n,)."""
        return self._numbers

    @property
    def _numbers(self) -> NDArray[np.int64]:
        """Numbers of its documents, read on first use: a search does not need them."""
        if self._known is None:
            self._known = self._read_numbers()
        return self._known

    def close(self) -> None:
        """Wait for running merges and write the stamp with the files' checksum."""
        # An index without its stamp, as after a full disk, is built again at the next open: no reason to fail here.
        with contextlib.suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.wait_merging_threads()
            if self._directory is not None and not self._read_only and self._stamp != self._sealed:
                self._seal(self._directory)
            self._copy.close()
        self._writer = None

    def clear(self) -> KeywordIndex:
        """Delete the files and return an empty index in their place; views of this index remain usable."""
        if self._writer is not None:
            with contextlib.suppress(OSError, ValueError):
                self._writer.wait_merging_threads()
            self._writer = None
        if self._directory is not None and not self._read_only:
            shutil.rmtree(self._directory, ignore_errors=True)
        return KeywordIndex.open(self._directory, read_only=self._read_only)

    # --- writing ----------------------------------------------------------------------------------------

    def catch_up(
        self, wanted: NDArray[np.int64], contents: Contents, stamp: Stamp, progress: Progress | None = None
    ) -> int:
        """Add and remove documents until the index has exactly the `wanted` ones; return how many changed.

        wanted: numbers, ascending. contents: reads the missing ones. stamp: state of the store that they are of. A
        number's content never changes, so only the difference of the two sets is written. An index of another store, or
        with a wrong number of documents in spite of its stamp, is rebuild first.
        """
        if stamp == self._stamp and self.documents == wanted.size:
            self.compared = True
            return 0
        rebuild = self._stamp is not None and (self._stamp.store != stamp.store or self._stamp == stamp)
        changed = self._update(wanted, contents, progress, rebuild=rebuild)
        if self.documents != wanted.size:
            changed = self._update(wanted, contents, progress, rebuild=True)
        self._stamp, self.compared = stamp, True
        return changed

    def recheck(self) -> None:
        """Read its documents' numbers from the files on next use, instead of relying on what was added."""
        self._known = None

    def _update(
        self, wanted: NDArray[np.int64], contents: Contents, progress: Progress | None, *, rebuild: bool
    ) -> int:
        """Remove documents that are not wanted and add missing ones; `rebuild`: remove and add all. Return how many."""
        gone = self._numbers if rebuild else difference(self._numbers, wanted)
        new = wanted if rebuild else difference(wanted, self._numbers)
        if (gone.size or new.size) and self._read_only:
            self._move_to_memory()
            gone, new = gone[:0], wanted
        if gone.size or new.size:
            try:
                self._write_changes(gone, new, contents, progress)
            except (OSError, ValueError):
                if self._directory is None:
                    raise
                # A full disk: go on in memory. The files keep their older state and stamp.
                self._move_to_memory()
                self._write_changes(self._numbers, wanted, contents, progress)
        return int(gone.size + new.size)

    def _write_changes(
        self, gone: NDArray[np.int64], new: NDArray[np.int64], contents: Contents, progress: Progress | None = None
    ) -> None:
        """Remove and add documents in a single commit; roll back on any error."""
        writer = self._open_writer()
        added = []
        try:
            if gone.size == self._numbers.size:
                writer.delete_all_documents()
            else:
                # By query: tantivy 0.27 deletes nothing by a term of an unsigned field.
                for start in range(0, gone.size, _DELETED_AT_ONCE):
                    some = gone[start : start + _DELETED_AT_ONCE].tolist()
                    writer.delete_documents_by_query(Query.term_set_query(self._schema, "number", some))
            for number, content in contents(new.tolist()) if new.size else ():
                writer.add_document(self._document(number, content))
                added.append(number)
                if progress is not None and len(added) % _REPORT_EVERY == 0:
                    progress(len(added), int(new.size), "indexing words")
            writer.commit()
        except BaseException:
            # Otherwise the next change would commit this one's beginning.
            with contextlib.suppress(OSError, ValueError):
                writer.rollback()
            raise
        self._index.reload()
        rest = difference(self._numbers, gone)
        self._refresh()
        self._known = union(rest, np.sort(np.array(added, dtype=np.int64)))

    def _document(self, number: int, content: str) -> Document:
        """Return the tantivy document of a block: its number and its terms by field."""
        text = extract_terms(content)
        document = Document()
        document.add_unsigned("number", number)
        document.add_text(_STEMS, " ".join(text.stems))
        document.add_text(_OPENING, " ".join(text.opening))
        document.add_text(_COMMON, " ".join(text.common))
        document.add_text(_IDENTIFIERS, " ".join(text.identifiers))
        return document

    def _move_to_memory(self) -> None:
        """Go on as an empty index in memory, leaving the files as they are."""
        self._directory, self._read_only, self._writer = None, False, None
        self._index = _register_tokenizer(Index(_schema()))
        self._refresh()
        self._known = None

    # --- reading ----------------------------------------------------------------------------------------

    def postings(self, term: str, limit: int) -> StemPostings:
        return self._postings(_field(term), term, limit)

    def openings(self, term: str, limit: int) -> StemPostings:
        return self._postings(_OPENING, term, limit)

    def _postings(self, field: str, term: str, limit: int) -> StemPostings:
        look_up = self._cached_postings if limit <= _LONGEST_CACHED else self._cached_postings.__wrapped__
        return look_up(field, term, limit)

    def rank_documents(
        self,
        stems: WeightedStems,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        identifiers: WeightedIdentifiers = (),
    ) -> list[Hit]:
        of_words = [(_term_query(self._schema, _field(text), text), weight) for text, weight in stems]
        of_words += [
            (_term_query(self._schema, _OPENING, text), OPENING_SHARE * weight)
            for text, weight in stems
            if _field(text) == _STEMS
        ]
        of_names = [(self._identifier_query(identifier), weight) for identifier, weight in identifiers]
        return self._search_allowed([*of_words, *of_names], limit, allowed)

    def frequency(self, stem: str) -> int:
        return int(self._searcher.doc_freq(_field(stem), stem))

    def identifier_frequency(self, identifier: Identifier) -> int:
        forms = {identifier.exact, identifier.squeezed}
        return max(int(self._searcher.doc_freq(_IDENTIFIERS, form)) for form in forms)

    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            fields = (_STEMS, _COMMON)
            self._vocabulary = Vocabulary(
                term for field in fields for term in self._searcher.terms_with_prefix(field, "")
            )
        return self._vocabulary

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    # --- inside -----------------------------------------------------------------------------------------

    def _search_allowed(
        self, queries: Sequence[tuple[Query, float]], limit: int, allowed: NDArray[np.int64] | None
    ) -> list[Hit]:
        """Return the best `limit` allowed hits; ask for more as long as the filter leaves too few."""
        if not queries or limit <= 0 or not self.documents or (allowed is not None and not allowed.size):
            return []
        query = Query.boolean_query(
            [(Occur.Should, q if weight == 1.0 else Query.boost_query(q, weight)) for q, weight in queries]
        )
        if allowed is not None and allowed.size * _RARE < self.documents:
            # Few documents are allowed, so the index only looks at them; this adds nothing to their score.
            only = Query.term_set_query(self._schema, "number", allowed.tolist())
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, Query.const_score_query(only, 0.0))])
        # Twice the limit, so that ties at the end are cut by number and not by the order of a merge.
        look = min(2 * limit, self.documents)
        while True:
            hits = self._searcher.search(query, look, count=False).hits
            scores, numbers = _unpack_hits(self._searcher, hits)
            passes = np.ones(len(hits), dtype=bool) if allowed is None else contains(allowed, numbers)
            if int(passes.sum()) >= limit or len(hits) < look or look >= self.documents:
                break
            look = min(4 * look, self.documents)
        passes &= scores > 0
        numbers, rounded = numbers[passes], np.array([round(score, 5) for score in scores[passes].tolist()])
        best = np.lexsort((numbers, -rounded))[:limit]
        return [Hit(*pair) for pair in zip(numbers[best].tolist(), rounded[best].tolist(), strict=True)]

    def _identifier_query(self, identifier: Identifier) -> Query:
        whole = _term_query(self._schema, _IDENTIFIERS, identifier.exact)
        if identifier.squeezed == identifier.exact:
            return whole
        return Query.disjunction_max_query([whole, _term_query(self._schema, _IDENTIFIERS, identifier.squeezed)])

    def _refresh(self) -> None:
        """Read the committed state, and drop what was cached of the last state."""
        self._searcher: Searcher = self._index.searcher()
        self._vocabulary = self._languages = None
        self._stemmed = {}
        # A cache of this state only; views of it share the cache.
        self._cached_postings = lru_cache(_CACHED_POSTINGS)(partial(_best_postings, self._schema, self._searcher))

    def _read_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all documents, ascending, read from the files."""
        hits = self._searcher.search(Query.all_query(), self.documents, count=False).hits if self.documents else []
        return np.sort(_unpack_hits(self._searcher, hits)[1])

    def _open_writer(self) -> IndexWriter:
        if self._writer is None:
            # A single thread, so that documents, and ties in score, have the same order on every run.
            self._writer = self._index.writer(_WRITER_BYTES, 1)
        return self._writer

    def _seal(self, directory: Path) -> None:
        """Write the stamp of the last catch-up with the checksum of the files."""
        if self._stamp is None:
            return
        sealed = {"format": FORMAT, **asdict(self._stamp), "checksum": _checksum(directory)}
        part = directory / f"{_STAMP}.part"
        part.write_text(json.dumps(sealed), encoding="utf-8")
        part.replace(directory / _STAMP)
        self._sealed = self._stamp


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_unsigned_field("number", indexed=True, fast=True)
    for field in (_STEMS, _OPENING, _COMMON, _IDENTIFIERS):
        builder.add_text_field(field, tokenizer_name="cut", index_option="freq")
    return builder.build()


def _register_tokenizer(index: Index) -> Index:
    index.register_tokenizer("cut", term_analyzer())
    return index


def _index_in(directory: Path) -> Index:
    return _register_tokenizer(Index(_schema(), path=str(directory)))


def _field(stem: str) -> str:
    """Return the field that holds a stem."""
    return _COMMON if is_common_term(stem) else _STEMS


def _best_postings(schema: Schema, searcher: Searcher, field: str, term: str, limit: int) -> StemPostings:
    most = min(limit, searcher.num_docs)
    query = _term_query(schema, field, term)
    scores, numbers = _unpack_hits(searcher, searcher.search(query, most, count=False).hits if most > 0 else [])
    return StemPostings(numbers, scores.round(5))


def _unpack_hits(
    searcher: Searcher, hits: Sequence[tuple[float, DocAddress]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the scores (k,) and the numbers (k,) of hits."""
    # Faster than zip(*hits), which takes longer than the search for thousands of hits.
    scores = np.fromiter(map(itemgetter(0), hits), np.float64, len(hits))
    numbers = searcher.fast_field_values("number", list(map(itemgetter(1), hits))) if hits else []
    return scores, np.fromiter(numbers, np.int64, len(hits))


def _term_query(schema: Schema, field: str, text: str) -> Query:
    return Query.term_query(schema, field, text, index_option="freq")


def _read_trusted_stamp(directory: Path) -> Stamp | None:
    """Return the stamp of an index whose format and checksum hold; None otherwise."""
    try:
        sealed = json.loads((directory / _STAMP).read_text(encoding="utf-8"))
        if sealed["format"] == FORMAT and sealed["checksum"] == _checksum(directory):
            return Stamp(str(sealed["store"]), int(sealed["revision"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def _checksum(directory: Path) -> int:
    """Return the CRC-32 of the names and bytes of the index's files, by which a damaged index is recognised."""
    total = 0
    for path in sorted(directory.iterdir()):
        if path.name.startswith((".", _STAMP)) or not path.is_file():
            continue
        total = zlib.crc32(path.name.encode(), total)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                total = zlib.crc32(chunk, total)
    return total
