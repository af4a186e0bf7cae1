"""docs/store.md says what the store does: its examples run, its tables are the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amgs.memory import Memory
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs_app import cli
from tests.engine.memory_world import open_memory, write_notes
from tests.tui.headless_world import write_corpus

TEXT = (Path(__file__).parents[2] / "docs" / "store.md").read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.S)


def test_the_verbs_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_notes(tmp_path / "notes")
    write_notes(tmp_path / "mail", {"roof.eml": "From: Ann <ann@example.org>\nSubject: Roof\n\nIt is tight."})
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "store.amgs"
    script.write_text("".join(examples("amgs")), encoding="utf-8")
    everywhere = ["--store", "m.duckdb", "--model", "tiny", "--now", "2026-03-01T09:00:00Z"]
    assert cli.run([*everywhere, "run", str(script)]) == 0
    assert (tmp_path / "memory.json").exists()
    assert (tmp_path / "memory.graphml").exists()


def test_the_python_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = examples("python")
    # Fewer, for the time it takes; the rest as it is written.
    exec(code.replace("range(2000)", "range(60)"), {})
    told = capsys.readouterr().out
    assert "60 new, 0 known, 0 refused" in told
    assert "60 blocks" in told
    with open_memory(tmp_path / "memory.duckdb") as memory:
        assert memory.status().blocks == {"raw": 60}
        assert memory.verify().ok


def test_every_table_is_named_and_no_other() -> None:
    told = set(re.findall(r"`(\w+)`", TEXT.split("## Tables")[1].split("There are no foreign keys")[0]))
    with DuckDBStorage.open(":memory:") as store:
        # The outbox is no part of what is kept or exported; no table of a file's.
        assert told - {"meta", "outbox"} == set(store.tables.schema()) - {"meta"}


def test_what_is_beside_a_store_may_be_removed(tmp_path: Path) -> None:
    import shutil

    path = tmp_path / "m.duckdb"

    def hits(memory: Memory) -> list[str]:
        return [hit.block.id for hit in memory.search("dome").hits]

    with open_memory(path) as memory:
        memory.ingest_folder(write_notes(tmp_path / "notes"))
        memory.apply_consolidation(memory.plan_consolidation())
        before = hits(memory)
    shutil.rmtree(f"{path}.index")
    with open_memory(path) as memory:
        assert hits(memory) == before
        assert memory.verify().ok


def test_the_python_of_the_page_on_retrieval_runs_on_a_store_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    # The real embedder, which no line of the sample names.
    for line in (["ingest", "--batch", "notes"], ["consolidate"]):
        assert cli.run(["--store", "memory.duckdb", *line]) == 0
    page = (Path(__file__).parents[2] / "docs" / "retrieval.md").read_text(encoding="utf-8")
    example = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    said: dict[str, object] = {}
    exec(compile(example, "docs/retrieval.md", "exec"), said)
    assert said["near"] and said["fall"]


@pytest.mark.real
def test_the_python_of_the_readme_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    example = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    exec(compile(example, "README.md", "exec"), {})
    told = capsys.readouterr().out
    shown = page.partition("has\nroom for one note:")[2].partition("`add` also takes")[0]
    dates = re.compile(r"\[\d{4}-\d\d-\d\d\]")
    figures = re.compile(r"\b\d\.\d\d\b")
    assert figures.sub("", dates.sub("", told)).split() == figures.sub("", dates.sub("", shown)).split()
    # A processor that multiplies in bfloat16 may differ in the last digit that is shown.
    found, page_has = ([float(each) for each in figures.findall(text)] for text in (told, shown))
    assert found == pytest.approx(page_has, abs=0.011)
    best, second = (float(line.split()[0]) for line in told.splitlines()[:2])
    assert best > 3 * second, "the question separates the note that answers it from the others"
