"""The working context: whatever is expanded or collapsed, it tiles the lifetime, fits, and can be undone."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import FocusError, WindowBudgetError
from amgs_focus.records import NodeRef, parent_of
from amgs_focus.window.candidates import assemble, coarsest
from amgs_focus.window.working_context import SINKS, Entry, WorkingContext, token_entries
from tests.focus.focus_world import MODEL, Shape, small_tree

lengths = st.integers(0, 400)


def wide(length: int, *, tail: int = 2) -> WorkingContext:
    """Laid out in a window that never binds."""
    return coarsest(Shape(length), 10**6, tail)


def edited(context: WorkingContext, data: st.DataObject, count: int = 6) -> list[WorkingContext]:
    """A chain of contexts by random legal edits, with what undoes each checked on the way."""
    chain = [context]
    for _ in range(count):
        now = chain[-1]
        openable = [place for place, entry in enumerate(now.entries()) if entry.level]
        closable = [node for node in parents(now) if closes(now, node)]
        kinds = [kind for kind, there in (("expand", openable), ("close", closable)) if there]
        if not kinds:
            break
        match data.draw(st.sampled_from(kinds)):
            case "expand":
                place = data.draw(st.sampled_from(openable))
                after, edit = now.expand(place)
                assert edit.cost == now.expand_cost(place)
            case _:
                node = data.draw(st.sampled_from(closable))
                members = [one for one in now.entries() if parent_of(one.node, now.block_size) == node]
                after, edit = now.collapse(node)
                assert edit.cost == now.collapse_cost(members)
        assert after.used == now.used + edit.cost
        undone, _ = after.apply(edit.inverse)
        assert undone == now
        chain.append(after)
    return chain


def parents(context: WorkingContext) -> list[NodeRef]:
    size = context.block_size
    found = {NodeRef(entry.level + 1, entry.index // (size if entry.level else 1)) for entry in context.entries()}
    return sorted(found)


def closes(context: WorkingContext, node: NodeRef) -> bool:
    end = (node.index + 1) * context.block_size**node.level
    if end > context.tail_start:
        return False
    try:
        context.collapse(node)
    except FocusError:
        return False
    return True


@given(lengths, st.integers(0, 4), st.data())
def test_any_edits_keep_every_invariant_and_undo_exactly(length: int, tail: int, data: st.DataObject) -> None:
    for context in edited(wide(length, tail=tail), data):
        context.check()
        covered = [token for entry in context.entries() for token in range(entry.start, entry.end)]
        assert covered == list(range(length))
        bands = context.bands()
        assert [(band.start, band.end) for band in bands] == list(pairwise([*(band.start for band in bands), length]))
        assert all(left.level != right.level for left, right in pairwise(bands))


@given(lengths, st.integers(1, 200), st.integers(0, 20), st.sampled_from([0.0, 0.5]))
def test_a_layout_fits_its_window_or_says_that_nothing_would(
    length: int, window: int, headroom: int, share: float
) -> None:
    needed = wide(length).used
    if needed > window:
        with pytest.raises(WindowBudgetError, match=str(needed)):
            assemble(Shape(length), window, 2, headroom=headroom, focus_share=share)
        return
    context = assemble(Shape(length), window, 2, headroom=headroom, focus_share=share)
    context.check()
    assert context.used <= max(needed, window - headroom)
    if SINKS + length + headroom <= window:
        assert all(entry.level == 0 for entry in context.entries())


@given(lengths, st.integers(0, 120), st.data())
def test_new_tokens_join_the_end_and_leave_the_rest(length: int, more: int, data: st.DataObject) -> None:
    context = edited(wide(length), data, 3)[-1]
    grown = context.extend_lifetime(length + more)
    grown.check()
    assert grown.lifetime == length + more
    whole = [entry for entry in context.entries() if entry.end % 4 == 0]
    assert list(grown.entries()[: len(whole)]) == whole
    assert grown.used == context.used + more


def broken(change: str) -> WorkingContext:
    """A context with one invariant broken."""
    context = coarsest(Shape(86), 100, 2)
    first, second, *rest = context.entries()
    match change:
        case "gap":
            return replace(context, items=(first, *rest))
        case "overlap":
            return replace(context, items=(first, first, second, *rest))
        case "short":
            return replace(context, lifetime=87)
        case "misaligned":
            return replace(context, items=(Entry(0, 0, 0, 3, 3), Entry(0, 1, 3, 7, 4)))
        case "budget":
            return replace(context, window=context.used - 1)
        case "nested":
            return replace(context, items=(first, *token_entries(24, 28, 4), second, *rest))
        case "tail":
            return replace(context, tail_blocks=8)
        case _:
            return replace(context, items=(replace(first, cost=2), second, *rest))


@pytest.mark.parametrize("change", ["gap", "overlap", "nested", "short", "misaligned", "budget", "tail", "cost"])
def test_a_broken_invariant_is_named(change: str) -> None:
    coarsest(Shape(86), 100, 2).check()
    with pytest.raises(FocusError, match="broke an invariant"):
        broken(change).check()


@given(st.integers(0, 200), st.sampled_from([4, 8]), st.data())
def test_rows_are_those_of_a_walk_over_the_entries(length: int, size: int, data: st.DataObject) -> None:
    tree = small_tree(length, block_size=size)
    context = edited(coarsest(tree, 10**6, 2), data)[-1]
    packed: list[torch.Tensor] = []
    read = [MODEL.embed(torch.tensor(token)) for token in MODEL.sinks()]
    for parent, run in groupby(context.entries(), key=lambda entry: parent_of(entry.node, size)):
        rows = []
        for entry in run:
            if entry.level:
                rows.append(tree.gists(entry.level, entry.index, entry.index + 1)[0].double())
            else:
                rows += [MODEL.embed(torch.tensor(int(t))) for t in tree.tokens(entry.start, entry.end)]
        packed += rows
        # of a pointer gist over others, the last one is the gist
        read += rows[-1:] if parent.level > 1 and len(rows) > 4 else rows
    assert context.read == len(read) and len(set(context.codes().tolist())) == len(read)
    assert torch.equal(context.embeddings(tree, 0, context.read), torch.stack(read))
    columns = context.pack(tree)
    assert torch.equal(columns["embeddings"], torch.stack(packed) if packed else columns["embeddings"])
    assert {len(column) for column in columns.values()} == {context.used - SINKS}
    start = data.draw(st.integers(0, context.read))
    end = data.draw(st.integers(start, context.read))
    assert torch.equal(context.embeddings(tree, start, end), torch.stack(read)[start:end])


def test_a_long_row_of_gists_of_one_parent_is_read_as_one_gist() -> None:
    tree = small_tree(8 * 8 + 24, block_size=8)
    context, _ = coarsest(tree, 10**6, 2).expand(0)
    assert [len(row) for row in context.rows][:2] == [8, 1]
    assert context.codes()[SINKS] != coarsest(tree, 10**6, 2).codes()[SINKS]
    opened, _ = context.expand(5)  # five before it are read together, two behind it each
    assert [len(row) for row in opened.rows][:4] == [5, 1, 1, 1]
    assert context.used - context.read == 7 and opened.used - opened.read == 4
