"""Definitions that ship reach stores of older versions, and what the operator changed is kept and said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amgs.frames import shipping
from amgs.frames.registry import by_name
from amgs.frames.shipping import hash_definition, plan_renewal, renew
from amgs.memory import Memory
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.storage.frames import decode, encode
from tests.engine.memory_world import open_memory

OLD_SELF = replace(shipping.SELF, budget=256)
OLD = (OLD_SELF, *(d for d in shipping.DEFAULTS if d.name not in ("SELF", "DEEP_RECALL")))
"""What an older version shipped: another SELF, and no DEEP_RECALL."""


def _older(path: Path) -> None:
    """A store as the older version left it."""
    with DuckDBStorage.open(path) as store:
        renew(store, OLD)


def _origin(memory: Memory, name: str) -> tuple[str, str]:
    return next((o.kind, o.told) for o in memory.frames.origins() if o.name == name)


def _definition(memory: Memory, name: str) -> object:
    return by_name(memory.frame_definitions())[name]


def test_an_unchanged_definition_is_renewed_and_a_new_one_comes(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    _older(path)
    with open_memory(path) as memory:
        assert _definition(memory, "SELF") == shipping.SELF
        assert _definition(memory, "DEEP_RECALL") == shipping.DEEP_RECALL
        assert _origin(memory, "SELF") == ("shipped", "shipped")
        assert _origin(memory, "DEEP_RECALL") == ("shipped", "shipped")
        counter = memory.change_counter
    with open_memory(path) as memory:
        assert memory.change_counter == counter, "what is up to date is not written again"


def test_a_changed_definition_is_kept_says_so_and_can_be_reset(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    _older(path)
    mine = replace(OLD_SELF, budget=77)
    with DuckDBStorage.open(path) as store, store.transaction():
        store.frames.put([mine])
    with open_memory(path) as memory:
        assert _definition(memory, "SELF") == mine
        kind, told = _origin(memory, "SELF")
        assert kind == "changed" and "another ships by now" in told
        memory.frames.reset("self")
        assert _definition(memory, "SELF") == shipping.SELF
        assert _origin(memory, "SELF") == ("shipped", "shipped")
        memory.define_frame(replace(shipping.SELF, budget=78))
        assert _origin(memory, "SELF") == ("changed", "changed here: `frame delete SELF` gives the shipped one back")


def test_a_store_from_before_versions_were_kept_loses_nothing() -> None:
    stored = by_name([OLD_SELF, *shipping.DEFAULTS[1:]])
    written, given = plan_renewal(stored, {}, shipping.DEFAULTS)
    assert written == ()
    assert "SELF" not in given and given["WORLD"] == hash_definition(shipping.WORLD)


def test_a_definition_is_known_by_what_an_older_version_wrote_of_it() -> None:
    """A field that came later does not make a frame that nobody touched look like the operator's own."""
    by_weights = replace(shipping.ATTENTION, rule=replace(shipping.ATTENTION.rule, order="weights"))
    assert hash_definition(by_weights) == "aedc6f9bf06ae99f", "as version 0.2.0 wrote it"
    assert hash_definition(shipping.SHORT_TERM) == "41c815f7b673fde5"
    assert hash_definition(shipping.ATTENTION) != hash_definition(by_weights)
    assert decode(encode(shipping.ATTENTION)) == shipping.ATTENTION
    assert decode(encode(by_weights)) == by_weights
