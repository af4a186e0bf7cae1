"""Questions to a memory as tests of pytest: `pytest --amgs notes.duckdb questions.yml`.

Each case of a file of questions is a test; it fails with what does not hold of the answer. Without `--amgs` the plugin
collects nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amgs.diagnosis.cases import Answering
    from amgs.types.diagnosis import QuestionCase

_MEMORY = pytest.StashKey["Answering"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("amgs").addoption(
        "--amgs",
        metavar="STORE",
        default="",
        help="the memory that YAML files of questions are put to: a file, postgresql://… or http://…",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    asked = file_path.suffix in (".yml", ".yaml") and parent.config.getoption("--amgs")
    return QuestionFile.from_parent(parent, path=file_path) if asked else None


def pytest_unconfigure(config: pytest.Config) -> None:
    memory: Any = config.stash.get(_MEMORY, None)
    if memory is not None:
        memory.close()


class QuestionFile(pytest.File):
    """A YAML file of questions."""

    def collect(self) -> Iterable[pytest.Item]:
        from amgs.calibration.questions import read_cases
        from amgs.errors import InputError

        try:
            cases = read_cases(self.path)
        except InputError as error:
            raise self.CollectError(f"{error.message} {error.way_out}") from error
        for case in cases:
            yield QuestionItem.from_parent(self, name=case.question, case=case)


class QuestionItem(pytest.Item):
    """One question of a file."""

    def __init__(self, *, case: QuestionCase, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case

    def runtest(self) -> None:
        from amgs.diagnosis.cases import check

        faults = check(self.case, _memory(self.config)).faults
        if faults:
            pytest.fail("\n".join(faults), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.case.question


def _memory(config: pytest.Config) -> Answering:
    """Return the memory that is asked, opened once for all questions and only read."""
    if _MEMORY not in config.stash:
        import amgs

        place = config.getoption("--amgs")
        served = place.startswith(("http://", "https://"))
        config.stash[_MEMORY] = amgs.MemoryClient(place) if served else amgs.open(place, read_only=True, create=False)
    return config.stash[_MEMORY]
