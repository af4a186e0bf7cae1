"""Fast start of the screen: `amgs` without a command paints before anything but Textual is imported.

Commands, help and invalid options are left to `amgs_app.cli`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from amgs import extras
from amgs_app.gc_tuning import pause_collection
from amgs_app.library_environment import prepare_libraries
from amgs_app.terminal.output import has_screen

GLOBALS: Final = frozenset(
    {"store", "corpus", "model", "now", "seed", "theme", "settings", "index", "connect", "token"}
)
"""Options of the screen that take a value; `--format` is not among them."""
CRASHED: Final = 1
"""Textual's exit code after an error in the program."""
QUIT_PATIENCE_SECONDS: Final = 1.0
"""Seconds after which leaving says what it is waiting for."""


def main() -> None:
    """Run the `amgs` command."""
    try:
        code = run(sys.argv[1:])
    except Exception:  # noqa: BLE001 - said in full below
        from amgs_app.terminal.output import ExitCode

        # An error in the program. Python's exit code would be 1, which means a failed check.
        sys.excepthook(*sys.exc_info())
        code = ExitCode.FAILED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    prepare_libraries()
    options = read_options(arguments)
    installed = extras.is_installed("textual")
    if options is not None and installed and has_screen():
        return _open_screen(options)
    with pause_collection():
        from amgs_app.cli import run as run_command

    return run_command(arguments, TextualScreen() if installed else None)


def read_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of a command line that contains nothing else; None if `amgs_app.cli` must handle it, as for
    invalid values.

    Forms: `--store PATH` and `--store=PATH`.
    """
    options: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in GLOBALS:
            return None
        if not equals:
            value = next(words, "")
        if not value or (name == "corpus" and not _is_folder(value)):
            return None
        options[name] = value
    return options if _readable(options) else None


def _readable(options: dict[str, Any]) -> bool:
    """Return whether the values have valid forms; convert paths and the seed."""
    for name in ("corpus", "settings"):
        if name in options:
            options[name] = Path(options[name])
    try:
        if "seed" in options:
            options["seed"] = int(options["seed"])
        if "now" in options:
            from amgs.clock import parse_instant

            parse_instant(options["now"])
    except (ValueError, OverflowError):
        return False
    return True


def _is_folder(word: str) -> bool:
    try:
        return Path(word).is_dir()
    except (OSError, ValueError):  # a name that is too long, or has a null byte
        return False


def _open_screen(option_values: dict[str, Any]) -> int:
    front = ""
    if not {"store", "corpus", "connect", "index"} & option_values.keys():
        from amgs_tui.wing_panes import front_pane

        front = front_pane(option_values.get("settings"))

    def open_session() -> Any:
        """In the engine's thread: what is heavy is imported there."""
        from amgs_app.attached import engine_of
        from amgs_app.command_line.front_ends import Globals
        from amgs_app.session import Operator

        options = Globals(**option_values).options()
        operator = Operator(engine_of(replace(options, own=True) if front else options))
        operator.engine.reads_at_least = True
        if front:
            operator.engine.require_existing_memory()
        operator.join()
        return operator

    store = option_values.get("store") or option_values.get("connect")
    return run_workstation(
        open_session, store_name=Path(store).name if store else "", theme=option_values.get("theme"), front=front
    )


def run_workstation(open_session: Callable[[], Any], **options: Any) -> int:
    """Run the workstation until the operator leaves; return the exit code.

    open_session: creates the Session, called in the engine's thread. options: store_name, theme, theme_folders,
    symbols, front.
    """
    with pause_collection():
        from amgs_app.gc_tuning import settling, short_pauses
        from amgs_app.terminal.output import ExitCode
        from amgs_tui.app import Workstation
        from amgs_tui.kept_state import KeptState, describe_kept_state, drafts_on, file_of_user
        from amgs_tui.messages import Overheard, run_through_registry

    kept_state, operators, lines = KeptState(file_of_user()), list[Any](), list[str]()

    def tell(line: str) -> None:
        lines.append(line)
        sys.stderr.write(f"amgs: {line}\n")

    def open_shared() -> Any:
        """Open the session, in the engine's thread, and let other programs use its memory while the screen is open."""
        from amgs_app.server.running import NEEDED, share_in_thread

        operator = open_session()
        operators.append(operator)
        if all(map(extras.is_installed, NEEDED)) and not operator.engine.attached:
            operator.engine.share = share_in_thread(operator.engine, lambda event: app.post_message(Overheard(event)))
        return operator

    app = Workstation(
        open_shared, execute=settling(run_through_registry), kept_state=kept_state, collects=True, **options
    )
    with short_pauses():
        try:
            app.run()
        finally:
            app.keep_state()
            for operator in operators:
                operator.engine.warn = tell
            if not app.engine.close(timeout=QUIT_PATIENCE_SECONDS):
                tell("stopping what is still running …")
                known = 0
                while not app.engine.close() and len(lines) > known:  # wait for what is still running
                    known = len(lines)
    for words in describe_kept_state(app.lifetime, drafts_on(app.main), app.state):
        sys.stderr.write(f"{words}\n")
    code = ExitCode.FAILED if app.return_code == CRASHED else app.return_code or ExitCode.SUCCESS
    if app.engine.loads_ahead:
        # All is closed. A thread within a library's import would keep the process, or take it down with a message.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


class TextualScreen:
    """The screen for the command line; Textual is imported on first use."""

    def open(self, open_session: Callable[[], Any], **options: Any) -> int:
        return run_workstation(open_session, **options)

    def serve(self, words: Sequence[str], port: int) -> int:
        with extras.explain_missing():
            from amgs_tui.browser import serve

        return serve(words, port)


if __name__ == "__main__":
    main()
