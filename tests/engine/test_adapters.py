"""The memory behind the interfaces of agent frameworks: held by the real packages' own classes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import amgs
from tests.engine.memory_world import open_memory


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))  # as if they were copied
    monkeypatch.setattr(amgs, "open", open_memory)  # without models, which take seconds to load
    examples = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    for example in examples:
        exec(compile(example, "adapters.md", "exec"), {"__name__": "example"})
    said = capsys.readouterr().out
    assert len(examples) == 3
    for told in ("Ada eats walnuts again\ndiet", "mill.md", "I moved to Lisbon."):
        assert told in said
