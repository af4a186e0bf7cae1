"""The session: which store, which clock, which tokens, and when something heavy is opened."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from amgs.errors import UsageError
from amgs.text.language_model import TokenCounter, find_tokenizer
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.places.corpus import open_corpus
from amgs_app.results.memory import BlockDetail
from amgs_app.session import Operator


def do(session: Operator, line: str) -> object:
    call = standard().parse(line)
    assert call is not None
    return session.run(call)


def small_corpus(folder: Path) -> Path:
    (folder / "notes").mkdir(parents=True)
    (folder / "corpus.toml").write_text("now = 2025-06-01T12:00:00Z\n")
    (folder / "notes" / "one.md").write_text("---\ndate: 2025-05-01\n---\nThe first note.\n")
    return folder


def test_a_session_opens_nothing_before_it_is_asked(tmp_path: Path) -> None:
    session = Operator(Engine(Options(store=str(tmp_path / "x.duckdb"), model="tiny")))
    assert not session.engine.memory_is_open
    assert not (tmp_path / "x.duckdb").exists()
    session.close()


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


def test_words_counted_one_by_one_are_as_many_tokens_as_their_text() -> None:
    whole = find_tokenizer("smollm2")
    if whole is None:
        pytest.skip("the packaged SmolLM2 is not installed")
    count, draws = TokenCounter("smollm2"), random.Random(7)
    pieces = [*string.printable, "it's", "we'LL", " x'd", "a1b2", "\n\n", "   ", "<|im_end|>", "--", "\x1c", "é"]
    for _ in range(500):
        text = "".join(draws.choices(pieces, k=40))
        assert count(text) == len(whole.encode(text, add_special_tokens=False).ids), text
