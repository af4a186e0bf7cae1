"""The verbs that keep a memory in shape, as an operator types them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.errors import Cancelled, UsageError
from amgs.identity import block_id
from amgs.types import Progress
from amgs_app.calls.registry import standard
from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from amgs_app.session import Operator
from tests.engine.lifecycle_world import OWL, OWL_COPY, lively
from tests.unit.typed_lines import do, opened


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Operator]:
    path = tmp_path / "s.duckdb"
    lively(path).close()
    with opened(path) as session:
        yield session


def test_enhance_shows_first_and_applies_what_is_named(session: Operator) -> None:
    plan = do(session, "enhance")
    assert do(session, "enhance --apply --dry-run") == plan
    copies = next(p for p in plan.proposals if p.kind == "duplicate")
    assert copies.id in {row[0] for row in table_of(plan).rows}
    assert session.engine.memory.block(block_id(OWL)).status == "consolidated"
    do(session, f"simulate enhance only={copies.id} draws=4")
    assert do(session, f"enhance --only {copies.id}").proposals == (copies,)
    done = do(session, f"enhance --only {copies.id} --apply")
    assert [p.id for p in done.proposals] == [copies.id]
    assert session.engine.memory.block(block_id(OWL)).status == "archived"
    do(session, "undo")
    assert session.engine.memory.block(block_id(OWL)).status == "consolidated"


def test_a_hard_pruning_asks_for_two_words(session: Operator) -> None:
    do(session, f"block set {block_id(OWL)[:12]} --status pruned")
    do(session, "prune --hard --dry-run")
    with pytest.raises(UsageError, match="would delete 1"):
        do(session, "prune --hard")
    do(session, "prune --hard --yes")
    lines = session.engine.memory._storage.deleted_blocks.lines()
    assert [line["id"] for line in lines] == [block_id(OWL)]
    do(session, "undo")
    assert session.engine.memory.block(block_id(OWL)).status == "pruned"


SIMULATIONS = ("prune threshold=0.5", 'insert "The barn owl came back."', "decay pace=1 pace=3", "enhance")


@pytest.mark.parametrize("change", SIMULATIONS)
def test_a_simulation_repeats_reports_and_can_be_cancelled(session: Operator, change: str) -> None:
    counter = session.engine.memory.change_counter
    for more in ("", " synthetic=30"):
        line = f"simulate {change} draws=3 days=20{more}"
        first = do(session, line)
        assert to_json(first) == to_json(do(session, line)) and len(first.rows) >= 3
    call = standard().parse(f"simulate {change} draws=3")
    assert call is not None
    seen: list[int] = []
    progress = Progress(lambda done, total, doing: seen.append(done))
    session.run(call, progress)
    assert seen[-1] == 2
    progress.cancel()
    with pytest.raises(Cancelled):
        session.run(call, progress)
    assert session.engine.memory.change_counter == counter


def test_the_frame_assembled_last_is_there_in_the_next_session(session: Operator) -> None:
    assert do(session, "frame last").frame is None
    frame = do(session, "frame assemble ATTENTION --query owl")
    do(session, "frame assemble SESSION --query owl --look")  # a look leaves no trace
    session.close()
    with opened(session.engine.store_path) as later:
        found = do(later, "frame last").frame
        assert (found.name, found.query, found.text, found.ledger) == ("ATTENTION", "owl", frame.text, frame.ledger)
        assert [(c.block.id, c.fate) for c in found.candidates] == [(c.block.id, c.fate) for c in frame.candidates]
        assert later.last_frame is found and later.listed == tuple(c.block.id for c in frame.candidates)
        assert do(later, "show frame").result.frame is found
        assert {line.side for line in do(later, "status").health.lines} > {"inbox", "decay", "budget"}


def test_a_block_of_several_categories_is_found_by_each_and_one_category_alone_takes_the_others_away(
    session: Operator, tmp_path: Path
) -> None:
    chosen = block_id(OWL)

    def of(kind: str, within: Operator = session) -> bool:
        return chosen in {each.id for each in do(within, f"block find --category {kind} --limit 500").blocks}

    told = do(session, f"block set {chosen[:12]} --category decision --category task").block
    assert (told.category, told.categories) == ("decision", ("decision", "task"))
    assert of("decision") and of("task") and not of("preference")
    assert {hit.block.id for hit in do(session, "search owl --category task").hits} == {chosen}
    session.engine.memory.exchange.export(tmp_path / "m.json", "json")
    with opened(tmp_path / "other.duckdb") as other:
        other.engine.memory.exchange.load(tmp_path / "m.json")
        assert of("decision", other) and of("task", other)
    do(session, f"block set {chosen[:12]} --category fact")
    assert of("fact") and not of("task")
    do(session, "undo")
    assert of("task") and not of("fact")


def test_an_operation_says_what_it_did_block_by_block_and_what_stands_on_it(session: Operator) -> None:
    chosen = block_id(OWL_COPY)
    do(session, f"block set {chosen[:12]} --category decision --confidence .4")
    done = session.engine.memory.operations(1)[0]
    found = do(session, f"operations {done.id}")
    assert [each.id for each in found.blocks] == [chosen] == list(session.listed)
    told = found.blocks[0].told
    assert "→ decision" in told and "→ 0.4" in told and "status" not in told
    do(session, f"block set {chosen[:12]} --pin")
    assert do(session, f"operations {done.id}").later == (done.id + 1,)
    first = do(session, "operations 1 --limit 2")
    assert len(first.blocks) == 2 < first.operation.blocks and first.edges_made == first.operation.edges
    with pytest.raises(UsageError, match="no operation 99"):
        do(session, "operations 99")
