"""A recording of the workstation, made by the workstation: `python -m scripts.cast docs/demo.amgs --out docs/demo`.

The script is one that `amgs run` also takes. Its lines are typed into the command line of a real workstation on the
sample as it ships; comments of two kinds are for the recording alone: `# press KEY …` presses keys, `# wait SECONDS`
leaves the picture standing. What takes time is waited for and cut out, so that a recording is as long as its script
says.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from textual.message import Message
from textual.pilot import Pilot

from amgs.errors import AmgsError
from amgs_tui.app import Workstation
from amgs_tui.messages import EngineReport, Failed
from amgs_tui.widgets.prompt import LineInput
from scripts.cast_files import Cast, Still, animated_svg, asciicast, still_svg

if TYPE_CHECKING:
    from amgs_app.engine import Options
    from amgs_app.terminal.themes import Palette

CHARACTER, KEY, RESULT = 0.03, 0.25, 1.2
"""Seconds that a typed character, a pressed key and the result of a command stand."""
PATIENCE: Final = 60.0
"""Seconds to wait for the screen to take a key."""
NOW: Final = "2026-03-01T09:00:00Z"
_TITLE = "The AMGS workstation: why a memory was recalled, and what the model sees of it"


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that the recording does. text: a command line, the keys, or the seconds."""

    kind: Literal["type", "press", "wait"]
    text: str


def cues(script: str) -> Iterator[Cue]:
    """What a script asks of the recording; raises ScriptError for a command there is not."""
    from amgs_app.calls.registry import standard
    from amgs_app.shell.script import parse_step

    for number, line in enumerate(script.splitlines(), 1):
        told = line.strip()
        word, _, rest = told.removeprefix("#").strip().partition(" ")
        if told.startswith("#") and word in ("press", "wait"):
            yield Cue("press" if word == "press" else "wait", rest)
        elif parse_step(standard(), line, "script", number) is not None:
            yield Cue("type", told)


@dataclass(eq=False)
class Recorder:
    """Drives a workstation and keeps what its terminal shows, at the pace of a reader."""

    app: Workstation
    pilot: Pilot[None]
    reported: asyncio.Event
    failures: Sequence[Failed]
    _at: float = field(default=0.0, init=False)
    stills: list[Still] = field(default_factory=list)

    @property
    def palette(self) -> Palette:
        """The colours of the workstation."""
        return self.app.palette

    async def play(self, script: Sequence[Cue]) -> None:
        """Do what a script asks; raises AmgsError where the workstation fails at it: that is no recording."""
        await self._settle()
        self._keep(RESULT)
        for cue in script:
            if cue.kind == "type":
                await self._type(cue.text)
            elif cue.kind == "press":
                for key in cue.text.split():
                    await self.pilot.press(key)
                    await self._settle()
                    self._keep(KEY)
            else:
                self._at += float(cue.text)

    async def _type(self, line: str) -> None:
        await self.pilot.press(":")
        await self._until(self._asks)
        for count, character in enumerate(line, 1):
            await self.pilot.press(character)
            await self._until(lambda count=count: self._read_typed() == line[:count])  # type: ignore[misc]
            self._keep(CHARACTER)
        self._at += KEY
        await self.pilot.press("enter")
        await self._until(lambda: not self._asks())
        await self._settle()
        self._keep(RESULT, line)

    def _asks(self) -> bool:
        return isinstance(self.app.focused, LineInput)

    def _read_typed(self) -> str:
        return self.app.focused.value if isinstance(self.app.focused, LineInput) else ""

    async def _until(self, holds: Callable[[], bool]) -> None:
        """Wait until the screen is so; raises TimeoutError where it never is: a dialog may be open that the script does
        not close.
        """
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause(0.01)

    def _keep(self, seconds: float, typed: str = "") -> None:
        """What the terminal shows now, from now on; `seconds` go by."""
        rows = tuple(tuple(strip) for strip in self.app.screen._compositor.render_strips())
        if typed or not self.stills or rows != self.stills[-1].rows:
            self.stills.append(Still(self._at, rows, typed))
        self._at += seconds

    async def _settle(self) -> None:
        """Wait until everything that was asked of the engine is answered; raises AmgsError where it cannot be."""
        await self.pilot.pause()
        while True:
            self.reported.clear()
            if not self.app.dispatcher.unanswered:
                break
            await self.reported.wait()
            await self.pilot.pause()
        await self.pilot.pause()
        if self.failures:
            failed = self.failures[0]
            raise AmgsError(f"`{failed.request.title}`: {failed.message}", title=failed.title)


@asynccontextmanager
async def recorder(options: Options, size: tuple[int, int]) -> AsyncIterator[Recorder]:
    """A workstation on a session of its own, or a served memory, as wide and high as `size` says in cells."""
    from amgs_app.attached import engine_of
    from amgs_app.session import Operator

    reported = asyncio.Event()
    name = urlsplit(options.connect).netloc if options.connect else Path(options.store or "").name

    failures: list[Failed] = []

    def hook(message: Message) -> None:
        if isinstance(message, EngineReport):
            reported.set()
            if isinstance(message.event, Failed):
                failures.append(message.event)

    app = Workstation(lambda: Operator(engine_of(options)), store_name=name)
    try:
        async with app.run_test(size=size, message_hook=hook) as pilot:
            yield Recorder(app, pilot, reported, failures)
    finally:
        app.engine.close()


async def record(script: str, options: Options, size: tuple[int, int]) -> Cast:
    """The recording of a script on the store that the options name."""
    done = tuple(cues(script))
    async with recorder(options, size) as made:
        await made.play(done)
        palette = made.palette
    return Cast(*size, _TITLE, tuple(made.stills), palette.text, palette.background)


def main(words: Sequence[str] | None = None) -> int:
    """Record a script and write OUT.cast and OUT.svg; with --last a picture of the end alone, OUT.svg."""
    from amgs.clock import parse_instant
    from amgs_app.engine import Options
    from amgs_app.places import corpus
    from amgs_app.places.folders import read_size

    parser = argparse.ArgumentParser(prog="python -m scripts.cast", description=main.__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="The files' path, without ending.")
    parser.add_argument("--model", help="As the option of every command.")
    parser.add_argument("--size", default="110x32", metavar="COLSxLINES")
    parser.add_argument("--stills", type=Path, metavar="DIR", help="Also write each still as an SVG, to look at.")
    parser.add_argument("--last", action="store_true", help="Write the last still alone.")
    given = parser.parse_args(words)
    with TemporaryDirectory() as folder:
        store = Path(folder) / corpus.STORE
        if not corpus.unpack(store):
            parser.error(f"{corpus.archive()} is missing or cannot be read.")
        options = Options(store=str(store), model=given.model, now=parse_instant(NOW), seed=7)
        cast = asyncio.run(record(given.script.read_text(encoding="utf-8"), options, read_size(given.size)))
    if given.last:
        given.out.with_suffix(".svg").write_text(still_svg(cast, len(cast.stills) - 1), encoding="utf-8")
    else:
        given.out.with_suffix(".cast").write_text(asciicast(cast), encoding="utf-8")
        given.out.with_suffix(".svg").write_text(animated_svg(cast), encoding="utf-8")
    if given.stills is not None:
        given.stills.mkdir(parents=True, exist_ok=True)
        for place in range(len(cast.stills)):
            (given.stills / f"{place:03}.svg").write_text(still_svg(cast, place), encoding="utf-8")
    sys.stdout.write(f"{len(cast.stills)} stills, {cast.seconds:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
