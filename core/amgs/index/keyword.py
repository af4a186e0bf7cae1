"""The keyword index on disk beside the store or in memory, by tantivy.

It is derived: a stamp beside it tells which store it was built from, at which revision, and the checksum of
its files. A stamp that does not match is repaired at open: behind, it is caught up; damaged or of another
store, it is built anew.
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

from amgs.index.ascending import contains, joined, without
from amgs.index.lexical import Hit, LexicalIndex, StemPostings, WeightedIdentifiers, WeightedStems
from amgs.index.snapshot_store import Stamp
from amgs.index.terms import OPENING_SHARE, Identifier, common, cut, cut_analyzer
from amgs.types import Progress

FORMAT = 4
"""Rises when the schema or an analyzer changes; an index of another format is built anew."""

_STEMS, _OPENING, _COMMON, _IDENTIFIERS = "stems", "opening", "common", "identifiers"
"""Fields: the commonest words have one of their own, so that BM25 holds no text longer for them."""

_STAMP = "stamp.json"
_WRITER_BYTES = 30_000_000
_DELETED_AT_ONCE = 1000
_TOLD_EVERY = 200
"""Texts between two reports, some 50 ms."""

_REMEMBERED = 1000
"""Lists of postings that one state of the index remembers: questions share most words."""

_LONGEST_REMEMBERED = 2000
"""Documents of such a list, of 16 bytes each; a longer one is not remembered."""

_RARE = 20
"""A filter that passes fewer than one in so many documents is made part of the query."""

Contents = Callable[[Sequence[int]], Iterable[tuple[int, str]]]
"""Reads (number, content) of blocks by their numbers."""


class KeywordIndex(LexicalIndex):
    """One open index. Make one with `KeywordIndex.open`, keep it true with `catch_up`."""

    def __init__(self, directory: Path | None, index: Index, stamp: Stamp | None, *, read_only: bool) -> None:
        super().__init__()
        self._directory = directory
        self._read_only = read_only
        self._sealed = stamp
        self._index = index
        self._schema = index.schema
        self._stamp = stamp
        self._writer: IndexWriter | None = None
        self._copied = contextlib.ExitStack()
        self._vocabulary: dict[str, int] | None = None
        self._refresh()
        self._known: NDArray[np.int64] | None = None
        self.compared = False
        """Whether it was held against the store since it was opened."""

    @classmethod
    def open(cls, directory: Path | None, *, read_only: bool = False) -> KeywordIndex:
        """Open the index in a directory, made when missing; None keeps it in memory.

        What cannot be trusted (damaged files, another format) is removed and starts empty: `catch_up` fills
        it. Opened for reading only, nothing on disk is touched; what is missing is then built in memory, as it is
        where the directory cannot be written. One that cannot be written is read from a copy.
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
                opened._copied = stack.pop_all()
                return opened
        return cls(None, _register_tokenizer(Index(_schema())), None, read_only=False)

    def view(self) -> KeywordIndex:
        """Return what is held now, to be searched while this index goes on; it is never written."""
        return copy.copy(self)

    @property
    def stamp(self) -> Stamp | None:
        """Stamp of the last catch-up; None for a new index."""
        return self._stamp

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of the documents it holds, ascending: (n,)."""
        return self._numbers

    @property
    def _numbers(self) -> NDArray[np.int64]:
        """Read with the first change: a search has no need of them."""
        if self._known is None:
            self._known = self._read_numbers()
        return self._known

    def close(self) -> None:
        """Let running merges finish and seal the files under their checksum; without it the next open builds
        anew.
        """
        # What cannot be sealed, on a full disk, is built anew at the next open: no reason to fail here.
        with contextlib.suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.wait_merging_threads()
            if self._directory is not None and not self._read_only and self._stamp != self._sealed:
                self._seal(self._directory)
            self._copied.close()
        self._writer = None

    def anew(self) -> KeywordIndex:
        """Return an empty index in place of this one, whose files are removed; views of this one go on."""
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
        """Make the index hold exactly the `wanted` documents and stamp it; gives the number that changed.

        Contents are immutable under their number, so the difference of the two sets of numbers is all there
        is to do; an index of another store is emptied first, and so is one that does not hold as many documents as
        it should: its stamp alone is not believed.
        """
        if stamp == self._stamp and self.documents == wanted.size:
            self.compared = True
            return 0
        anew = self._stamp is not None and (self._stamp.store != stamp.store or self._stamp == stamp)
        changed = self._make(wanted, contents, progress, anew=anew)
        if self.documents != wanted.size:
            changed = self._make(wanted, contents, progress, anew=True)
        self._stamp, self.compared = stamp, True
        return changed

    def recheck(self) -> None:
        """Read anew which documents the index holds, instead of going by what was put into it."""
        self._known = None

    def _make(self, wanted: NDArray[np.int64], contents: Contents, progress: Progress | None, *, anew: bool) -> int:
        """Take out what is not wanted and put in what is missing; `anew`: everything out, everything in."""
        gone = self._numbers if anew else without(self._numbers, wanted)
        new = wanted if anew else without(wanted, self._numbers)
        if (gone.size or new.size) and self._read_only:
            self._move_to_memory()
            gone, new = gone[:0], wanted
        if gone.size or new.size:
            try:
                self._change(gone, new, contents, progress)
            except (OSError, ValueError):
                if self._directory is None:
                    raise
                # A full disk: what is derived can do without one. The files keep their older state and stamp.
                self._move_to_memory()
                self._change(self._numbers, wanted, contents, progress)
        return int(gone.size + new.size)

    def _change(
        self, gone: NDArray[np.int64], new: NDArray[np.int64], contents: Contents, progress: Progress | None = None
    ) -> None:
        writer = self._write()
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
                if progress is not None and len(added) % _TOLD_EVERY == 0:
                    progress(len(added), int(new.size), "indexing words")
            writer.commit()
        except BaseException:
            # What was begun would be committed with the next change.
            with contextlib.suppress(OSError, ValueError):
                writer.rollback()
            raise
        self._index.reload()
        rest = without(self._numbers, gone)
        self._refresh()
        self._known = joined(rest, np.sort(np.array(added, dtype=np.int64)))

    def _document(self, number: int, content: str) -> Document:
        text = cut(content)
        document = Document()
        document.add_unsigned("number", number)
        document.add_text(_STEMS, " ".join(text.stems))
        document.add_text(_OPENING, " ".join(text.opening))
        document.add_text(_COMMON, " ".join(text.common))
        document.add_text(_IDENTIFIERS, " ".join(text.identifiers))
        return document

    def _move_to_memory(self) -> None:
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
        look_up = self._remembering if limit <= _LONGEST_REMEMBERED else self._remembering.__wrapped__
        return look_up(field, term, limit)

    def ranked(
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
        return self._run([*of_words, *of_names], limit, allowed)

    def frequency(self, stem: str) -> int:
        return int(self._searcher.doc_freq(_field(stem), stem))

    def identifier_frequency(self, identifier: Identifier) -> int:
        forms = {identifier.exact, identifier.squeezed}
        return max(int(self._searcher.doc_freq(_IDENTIFIERS, form)) for form in forms)

    def vocabulary(self) -> dict[str, int]:
        if self._vocabulary is None:
            fields = (_STEMS, _COMMON)
            self._vocabulary = {
                stem: count for field in fields for stem, count in self._searcher.terms_with_prefix(field, "")
            }
        return self._vocabulary

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    # --- inside -----------------------------------------------------------------------------------------

    def _run(self, queries: Sequence[tuple[Query, float]], limit: int, allowed: NDArray[np.int64] | None) -> list[Hit]:
        """Search, keep what is allowed, and look further down as long as the filter leaves too few."""
        if not queries or limit <= 0 or not self.documents or (allowed is not None and not allowed.size):
            return []
        query = Query.boolean_query(
            [(Occur.Should, q if weight == 1.0 else Query.boost_query(q, weight)) for q, weight in queries]
        )
        if allowed is not None and allowed.size * _RARE < self.documents:
            # So few may be found that the index had better look only at them; they score nothing for it.
            only = Query.term_set_query(self._schema, "number", allowed.tolist())
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, Query.const_score_query(only, 0.0))])
        # Twice the limit, so that equal scores at the edge are cut by number and not by where a merge left
        # them.
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
        self._searcher: Searcher = self._index.searcher()
        self._vocabulary = self._languages = None
        self._stemmed = {}
        # Of this state alone, whatever the index becomes; views of it share what is remembered.
        self._remembering = lru_cache(_REMEMBERED)(partial(_best_postings, self._schema, self._searcher))

    def _read_numbers(self) -> NDArray[np.int64]:
        """Numbers in the files; read once, at open."""
        hits = self._searcher.search(Query.all_query(), self.documents, count=False).hits if self.documents else []
        return np.sort(_unpack_hits(self._searcher, hits)[1])

    def _write(self) -> IndexWriter:
        if self._writer is None:
            # One thread: documents get the same order, and equal scores the same place, on every run.
            self._writer = self._index.writer(_WRITER_BYTES, 1)
        return self._writer

    def _seal(self, directory: Path) -> None:
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
    index.register_tokenizer("cut", cut_analyzer())
    return index


def _index_in(directory: Path) -> Index:
    return _register_tokenizer(Index(_schema(), path=str(directory)))


def _field(stem: str) -> str:
    """Return the field that holds a stem."""
    return _COMMON if common(stem) else _STEMS


def _best_postings(schema: Schema, searcher: Searcher, field: str, term: str, limit: int) -> StemPostings:
    most = min(limit, searcher.num_docs)
    query = _term_query(schema, field, term)
    scores, numbers = _unpack_hits(searcher, searcher.search(query, most, count=False).hits if most > 0 else [])
    return StemPostings(numbers, scores.round(5))


def _unpack_hits(
    searcher: Searcher, hits: Sequence[tuple[float, DocAddress]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the scores and the numbers of documents hits: (k,), (k,)."""
    # Not unzipped: to unpack thousands of pairs takes longer than to find them.
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
    """CRC-32 over the names and bytes of the index's files: a damaged file is rebuilt, never searched."""
    total = 0
    for path in sorted(directory.iterdir()):
        if path.name.startswith((".", _STAMP)) or not path.is_file():
            continue
        total = zlib.crc32(path.name.encode(), total)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                total = zlib.crc32(chunk, total)
    return total
