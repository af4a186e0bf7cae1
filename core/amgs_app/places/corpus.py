"""The corpus (a folder of notes with its own store), its clock, the folders that ship with the program, and the
shipped store of the sample.

A checkout has `sample_corpus/` and `themes/` at its root, a wheel under `amgs_app/_data/`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amgs.clock import Clock, ShiftedClock, SystemClock, as_utc, parse_instant
from amgs.errors import AmgsError, InputError
from amgs.incoming import is_folder, lies_there, read_toml, real_path

if TYPE_CHECKING:
    from amgs.memory import Memory


_PACKAGE = Path(__file__).resolve().parents[1]
DESCRIPTION = "corpus.toml"
SAMPLE_STORE = "observatory"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of Markdown notes.

    now: the instant at which its clock starts, for a corpus that lives in its own year; None for real time.
    """

    path: Path
    name: str
    now: datetime | None = None
    is_sample: bool = False

    @property
    def store_name(self) -> str:
        """File name of the corpus's store: the folder's name and a short hash of its path."""
        if self.is_sample:
            return f"{SAMPLE_STORE}.duckdb"
        mark = hashlib.sha256(str(real_path(self.path)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return f"{self.name}-{mark}.duckdb"

    def landmarks(self) -> tuple[str, ...]:
        """Return a few of its source names, by which a store is recognised that has ingested it."""
        notes = sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*.md"))
        return tuple(notes[:: max(1, len(notes) // 4)])


class CorpusClock:
    """The machine's clock, until `start_at` moves it into the corpus's year."""

    def __init__(self, base: Clock | None = None) -> None:
        self._base = base or SystemClock()
        self._clock: Clock = self._base

    def start_at(self, instant: datetime) -> None:
        """Set the clock to an instant, from which it runs on."""
        self._clock = ShiftedClock(instant, base=self._base)

    @property
    def zone(self) -> tzinfo:
        return self._clock.zone

    @property
    def shifted(self) -> bool:
        return self._clock is not self._base

    def now(self) -> datetime:
        return self._clock.now()

    def perf(self) -> float:
        return self._base.perf()


def find_shipped(folder: str) -> Path:
    """Return a folder that ships with the program: `sample_corpus`, `sample_store` or `themes`."""
    checkout = _PACKAGE.parents[1] / folder
    return checkout if checkout.is_dir() else _PACKAGE / "_data" / folder


def sample_corpus() -> Corpus:
    """Return the corpus that ships with the program."""
    return _read_corpus(find_shipped("sample_corpus"), is_sample=True)


def open_corpus(folder: Path) -> Corpus:
    """Return the corpus in the user's folder; raises InputError if it is not a folder."""
    if not is_folder(folder):
        fault = "is not a folder" if lies_there(folder) else "does not exist"
        raise InputError(f"{str(folder)[:200]} {fault}.", way_out="Give --corpus a folder of markdown files.")
    return _read_corpus(folder, is_sample=real_path(folder) == real_path(find_shipped("sample_corpus")))


def _read_corpus(folder: Path, *, is_sample: bool) -> Corpus:
    """Read the folder's corpus.toml, if any; raises InputError if it is invalid."""
    file = folder / DESCRIPTION
    now: datetime | None = None
    if file.is_file():
        way_out = "It may contain `now = 2026-03-01T09:00:00Z`."
        value = read_toml(file, way_out).get("now")
        try:
            now = None if value is None else _instant(value)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{file}: {value!r} is no instant.", way_out=way_out) from error
    return Corpus(folder, real_path(folder).name or "notes", now, is_sample)


def _instant(value: object) -> datetime:
    return as_utc(value) if isinstance(value, datetime) else parse_instant(str(value))


_CLOCK = "clock"
"""Name under which a store saves the instant that its corpus's clock has reached."""
_WORTH_KEEPING = timedelta(minutes=1)


class CorpusYear:
    """Moves a CorpusClock into a corpus's year; leaves any other clock alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_event: datetime | None = None

    @property
    def is_entered(self) -> bool:
        """Return whether the clock shows the corpus's year instead of real time."""
        return isinstance(self._clock, CorpusClock) and self._clock.shifted

    def enter(self, begin: datetime | None, memory: Memory | None) -> None:
        """Move the clock to `begin`, or to the last event in the memory if that is later; only once.

        begin: None for a corpus in real time.
        """
        if isinstance(self._clock, CorpusClock) and not self._clock.shifted and begin is not None:
            self._last_event = latest = None if memory is None else _latest_event(memory)
            self._clock.start_at(begin if latest is None else max(begin, latest))

    def keep(self, memory: Memory) -> None:
        """Save in the store how far the clock came, if that is more than a minute after the last event."""
        if not self.is_entered:
            return
        now = self._clock.now()
        if self._last_event is not None and now - self._last_event < _WORTH_KEEPING:
            return  # what was done since is younger still
        latest = _latest_event(memory)
        if latest is None or now - latest >= _WORTH_KEEPING:
            with suppress(AmgsError):  # a full disk must not keep anyone from leaving
                memory.keep(_CLOCK, now.isoformat())


def _latest_event(memory: Memory) -> datetime | None:
    """Return the latest instant at which something happened, so that time does not run backwards between sessions.

    Dates of blocks do not count: a file may be dated after the corpus's year.
    """
    known = [done] if (done := memory.last_event()) is not None else []
    known += [parse_instant(value) for name, value in memory.read_saved(_CLOCK).items() if name == _CLOCK]
    return max(known, default=None)


ARCHIVE: Final = f"{SAMPLE_STORE}.tar.gz"
FACTS: Final = f"{SAMPLE_STORE}.json"
"""File beside the archive that says from which notes, models and schema it was made."""
STORE: Final = f"{SAMPLE_STORE}.duckdb"

_PARTS: Final = ("", ".wal", ".counter")
"""Endings of files that belong to a store; any of them at the target means that a store is, or was, there."""


def archive() -> Path:
    """Return the path of the shipped store; it may be missing."""
    return find_shipped("sample_store") / ARCHIVE


def unpack(store: Path) -> bool:
    """Copy the shipped store to a path; return whether that was done.

    False if the archive is missing or unreadable, the folder is full or not writable, or a store is there already, even
    if another process puts it there meanwhile.
    """
    if any(os.path.lexists(f"{store}{ending}") for ending in _PARTS):
        return False
    with suppress(OSError, tarfile.TarError, EOFError):
        folder = Path(tempfile.mkdtemp(prefix=f".{store.name}.", dir=store.parent))
        try:
            with tarfile.open(archive()) as packed:
                packed.extractall(folder, filter="data")
            return _put(folder, store)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return False


def _put(folder: Path, store: Path) -> bool:
    """Move the unpacked files to their place, the store itself last, so that it is complete once it is visible."""
    place = store.with_name(f"{store.name}.index")
    with suppress(OSError):  # an index that is there is brought up to date, a missing index created anew
        (folder / f"{STORE}.index").rename(place)
    try:
        os.link(folder / STORE, store)
    except FileExistsError:
        return False
    return True
