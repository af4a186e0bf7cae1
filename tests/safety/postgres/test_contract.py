"""What holds of a store in a file holds of one in PostgreSQL: the same tests, in a namespace of its own each."""

# ruff: noqa: F403 - the tests of the storage are run here as well

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.storage.opening import open_storage
from amgs.storage.store import Storage
from amgs.types.gateway import GatewayPrompt, Usage
from tests.engine import test_centrality, test_lifecycle_prune
from tests.engine.memory_world import open_memory, write_notes
from tests.engine.storage.test_changes import *
from tests.engine.storage.test_round_trips import *
from tests.engine.storage.test_transactions import *
from tests.engine.test_centrality import LARGE, scored
from tests.gateway.test_prompts import exchange, rows
from tests.gateway.test_prompts import memory as opening
from tests.postgres_server import namespace

memory = test_centrality.memory
test_every_search_goes_by = test_centrality.test_what_was_worked_out_is_what_every_search_goes_by
test_of_one_graph = test_centrality.test_of_one_graph_it_is_kept_once_and_none_replaces_a_later_one
test_a_copy_is_scored = test_centrality.test_a_copy_is_scored_alike_and_an_erased_block_leaves_no_score
test_a_hard_pruning = test_lifecycle_prune.test_what_a_hard_pruning_deletes_stands_whole_in_a_table_until_it_is_erased


@pytest.fixture
def place(postgres: str) -> str:
    return namespace(postgres)


@pytest.fixture
def storage(place: str) -> Iterator[Storage]:
    with open_storage(place) as opened:
        yield opened


def test_a_process_that_has_the_store_open_follows_what_another_works_out(postgres: str, tmp_path: Path) -> None:
    place = namespace(postgres)
    with open_memory(place, settings=LARGE) as one, open_memory(place, settings=LARGE) as other:
        one.ingest_folder(write_notes(tmp_path / "notes"))
        one.consolidate()
        assert set(scored(other).values()) == {0.0}
        one.lifecycle.keep_derived()
        assert scored(other) == scored(one) and max(scored(other).values()) > 0.5


def test_a_database_keeps_prompts_as_a_file_does(postgres: str, tmp_path: Path) -> None:
    store, place = tmp_path / "a.duckdb", namespace(postgres)
    with opening(store) as opened:
        opened.conversation.add("talk", [{"role": "user", "content": "Hi"}])
        opened.gateway.note(exchange(1, "Hi", usage=Usage(1, 2, 3, 4)))
        opened.gateway.note(exchange(2, "Hi", prompts=(GatewayPrompt("tools", '["\0"]'),)))
    with opening(store) as opened, opening(place) as other:
        opened.exchange.export(tmp_path / "a.json")
        other.exchange.load(tmp_path / "a.json")
    with opening(store, keep=2) as file, opening(place, keep=2) as server:
        assert server.gateway.exchange(1) == file.gateway.exchange(1)
        for opened in (file, server):
            opened.gateway.note(exchange(3, "Hi"))
            assert [one.changed for one in opened.gateway.exchanges()] == [("tools", "system prompt"), ()]
        assert server.gateway.exchange(2) == file.gateway.exchange(2)
        assert server.gateway.exchange(3) == file.gateway.exchange(3)
    assert rows(place, "prompts") == rows(place, "exchange_prompts") == 2
