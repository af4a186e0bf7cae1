"""The folder of notes that an engine works on, the clock of its year and how far that has come, and where the sample
corpus and the themes lie.

A checkout reads `sample_corpus/` and `themes/` from the repository's root; an installed wheel carries all
under `amgs_app/_data/`. The store keeps how far a corpus's year has come, and the next session goes on there.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.clock import Clock, ShiftedClock, SystemClock, as_utc, parse_instant
from amgs.errors import AmgsError, InputError
from amgs.regular_file import is_folder, lies_there, read_toml, real_path

if TYPE_CHECKING:
    from amgs.memory import Memory


_PACKAGE = Path(__file__).resolve().parents[1]
DESCRIPTION = "corpus.toml"
SAMPLE_STORE = "observatory"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of markdown.

    now: the instant its world is at, for a corpus that lives in its own year; None for the real one.
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
        """Return the sources of a few of its notes, by which a store that has taken it in is known."""
        notes = sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*.md"))
        return tuple(notes[:: max(1, len(notes) // 4)])


class CorpusClock:
    """The machine's clock until a corpus that lives in its own year comes into play.

    From then on that year's.
    """

    def __init__(self, base: Clock | None = None) -> None:
        self._base = base or SystemClock()
        self._clock: Clock = self._base

    def start_at(self, instant: datetime) -> None:
        """Stand at the instant now, and run on at the machine's pace."""
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


def shipped(folder: str) -> Path:
    """Return a folder that ships with the program: `sample_corpus`, `sample_store` or `themes`."""
    checkout = _PACKAGE.parents[1] / folder
    return checkout if checkout.is_dir() else _PACKAGE / "_data" / folder


def sample_corpus() -> Corpus:
    """Return the corpus that ships with the program."""
    return _read_corpus(shipped("sample_corpus"), is_sample=True)


def open_corpus(folder: Path) -> Corpus:
    """Return the user's own folder; raises InputError when it is none."""
    if not is_folder(folder):
        fault = "is not a folder" if lies_there(folder) else "does not exist"
        raise InputError(f"{str(folder)[:200]} {fault}.", way_out="Give --corpus a folder of markdown files.")
    return _read_corpus(folder, is_sample=real_path(folder) == real_path(shipped("sample_corpus")))


def _read_corpus(folder: Path, *, is_sample: bool) -> Corpus:
    """Return the corpus with what its corpus.toml says; raises InputError for one that cannot be read."""
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
"""The name under which a store keeps the instant that its corpus's year has reached."""
_WORTH_KEEPING = timedelta(minutes=1)


class CorpusYear:
    """Moves a clock into a corpus's year; any clock but a `CorpusClock` stays where it is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_event: datetime | None = None

    @property
    def is_entered(self) -> bool:
        """Return whether the clock shows the year of a corpus instead of the real one."""
        return isinstance(self._clock, CorpusClock) and self._clock.shifted

    def enter(self, begin: datetime | None, memory: Memory | None) -> None:
        """Move to a year that begins at an instant, or to where the memory has come in it; once. begin: None where the
        corpus lives in the real year.
        """
        if isinstance(self._clock, CorpusClock) and not self._clock.shifted and begin is not None:
            self._last_event = latest = None if memory is None else _latest_event(memory)
            self._clock.start_at(begin if latest is None else max(begin, latest))

    def keep(self, memory: Memory) -> None:
        """Have the store remember how far the year has come."""
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
    """Return the last instant at which something was done: time must not run backwards between two sessions.

    Not the dates of blocks: a file that is taken in may be younger than the corpus's year.
    """
    known = [done] if (done := memory.last_event()) is not None else []
    known += [parse_instant(value) for name, value in memory.kept(_CLOCK).items() if name == _CLOCK]
    return max(known, default=None)
