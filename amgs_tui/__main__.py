"""The short way to the screen: `amgs` without a command paints before anything but Textual is imported.

Everything else (commands, help, errors in the options) is left to `amgs_app.cli`, which knows them all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from amgs import extras
from amgs_app.gc_tuning import uncollected_imports
from amgs_app.terminal.screen import has_screen

GLOBALS: Final = frozenset(
    {"store", "corpus", "model", "now", "seed", "theme", "settings", "index", "connect", "token"}
)
"""Options of the screen that take a value; `--format` is not for a screen."""


def main() -> None:
    """The entry point of the `amgs` command."""
    try:
        code = run(sys.argv[1:])
    except Exception:  # noqa: BLE001 - said in full below
        from amgs_app.terminal.exit_codes import ExitCode

        # A fault of the program. Python would end with 1, which says that a check does not hold.
        sys.excepthook(*sys.exc_info())
        code = ExitCode.FAILED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line and give its exit code."""
    given = read_options(arguments)
    installed = extras.installed("textual")
    if given is not None and installed and has_screen():
        return _open_screen(given)
    with uncollected_imports():
        from amgs_app.cli import run as run_command

    return run_command(arguments, TextualScreen() if installed else None)


def read_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The global options of a line that holds nothing else; None when it needs the whole command line.

    `--store PATH` and `--store=PATH`. A value that cannot be right is also left to the command line, which
    says why.
    """
    given: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in GLOBALS:
            return None
        if not equals:
            value = next(words, "")
        if not value or (name == "corpus" and not _is_folder(value)):
            return None
        given[name] = value
    return given if _readable(given) else None


def _readable(given: dict[str, Any]) -> bool:
    """Whether the values have the form they must have; paths and the seed become what they are."""
    for name in ("corpus", "settings"):
        if name in given:
            given[name] = Path(given[name])
    try:
        if "seed" in given:
            given["seed"] = int(given["seed"])
        if "now" in given:
            from amgs.clock import parse_instant

            parse_instant(given["now"])
    except (ValueError, OverflowError):
        return False
    return True


def _is_folder(word: str) -> bool:
    try:
        return Path(word).is_dir()
    except (OSError, ValueError):  # longer than any name, or with a null byte
        return False


def _open_screen(given: dict[str, Any]) -> int:
    with uncollected_imports():
        from amgs_tui.app import run as run_app

    def open_session() -> Any:
        """In the engine's thread: what is heavy is imported there."""
        from amgs_app.attached import engine_of
        from amgs_app.command_line.global_options import Globals
        from amgs_app.session.operator import Operator

        return Operator(engine_of(Globals(**given).options()))

    store = given.get("store") or given.get("connect")
    return run_app(open_session, store_name=Path(store).name if store else "", theme=given.get("theme"))


class TextualScreen:
    """The screen as the command line asks for it; Textual is imported with the first call."""

    def open(self, open_session: Callable[[], Any], **options: Any) -> int:
        from amgs_tui.app import run as run_app

        return run_app(open_session, **options)

    def serve(self, words: Sequence[str], port: int) -> int:
        with extras.explained():
            from amgs_tui.browser import serve

        return serve(words, port)


if __name__ == "__main__":
    main()
