"""Exit codes mean one thing each, and are told from one definition."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs import errors
from amgs_app import cli
from amgs_app.terminal.output import ExitCode, table
from amgs_focus import errors as focus_errors
from amgs_tui import __main__ as program
from scripts import manual

DOCS = Path(__file__).parents[2] / "docs"


def test_each_code_has_one_meaning_and_every_error_has_a_code() -> None:
    assert len({each.meaning for each in ExitCode}) == len(ExitCode)
    kinds = [
        kind
        for module in (errors, focus_errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    used = {ExitCode(kind.exit_code) for kind in kinds if hasattr(kind, "exit_code")}
    assert used == set(ExitCode) - {ExitCode.SUCCESS, ExitCode.PIPE_CLOSED}
    assert errors.StoreError.exit_code == ExitCode.STORE
    assert errors.ServiceError.exit_code == ExitCode.SERVICE
    assert errors.ExpectationError.exit_code == ExitCode.DIFFERS


def test_help_manual_and_documents_tell_every_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == ExitCode.SUCCESS
    helped = " ".join(capsys.readouterr().out.split())
    page, documents = manual.page(), (DOCS / "scripting.md").read_text(encoding="utf-8")
    assert table() in documents
    for each in ExitCode:
        assert f"{int(each)} {each.meaning.rstrip('.')}" in helped
        assert f".B {int(each)}\n{each.meaning}".replace("-", r"\-") in page


def test_a_fault_of_the_program_does_not_end_like_a_check_that_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: object) -> int:
        raise RuntimeError("a fault")

    monkeypatch.setattr(program, "run", broken)
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == ExitCode.FAILED and "RuntimeError: a fault" in capsys.readouterr().err
