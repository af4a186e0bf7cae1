"""LensNet scores what it is shown, and nothing that it may not; its checkpoint fits one model alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.lensnet import NAMES, LensReader, load_checkpoint, save_net
from amgs_focus.lens.scoring import LensView
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import ModelCard
from amgs_focus.runtime.replay import header_of
from amgs_focus.window.candidates import coarsest
from tests.focus.focus_world import MODEL, notes, small_runtime, small_tree
from tests.focus.lens_samples import asked, net, scorer


@given(st.integers(0, 200), st.text("abcxyz?", max_size=20))
def test_scores_are_signed_bounded_and_the_sum_of_named_parts(length: int, question: str) -> None:
    tree = small_tree(length)
    context = coarsest(tree, 10**6, 2)
    found = scorer().score(LensView(context, tree, tuple(MODEL.encode(question))))
    assert len(found.values) == context.used - 4
    assert (np.abs(found.values) <= 1).all()
    assert set(found.parts) == {"attention", *NAMES}
    assert np.allclose(sum(found.parts.values(), np.zeros(len(found.values))), found.values)


def test_the_question_at_the_end_decides_about_what_stood_before_it() -> None:
    one, other = asked("is the lamp red?"), asked("is the kite red?")
    first, second = (scorer().score(view).values for view in (one, other))
    assert len(first) == len(second)
    assert not np.allclose(first, second)


def test_an_open_block_is_read_as_its_own_gist() -> None:
    tree = small_tree(100)
    closed = coarsest(tree, 10**6, 2)
    place = next(at for at, entry in enumerate(closed.entries()) if entry.level == 1)
    opened, _ = closed.expand(place)
    rows = [LensReader().read(LensView(context, tree)).rows[place] for context in (closed, opened)]
    assert torch.equal(rows[0], rows[1])
    assert torch.equal(rows[0], tree.gists(1, closed.entries()[place].index, closed.entries()[place].index + 1)[0])


def saved(folder: Path) -> Path:
    path = folder / "small.safetensors"
    save_net(path, net(), model=MODEL, gist="pointer 0")
    return path


def test_a_checkpoint_scores_as_the_net_did(tmp_path: Path) -> None:
    loaded = load_checkpoint(saved(tmp_path), MODEL)
    view = asked("is the lamp red?")
    assert np.allclose(loaded.score(view).values, scorer().score(view).values, atol=0.02)
    assert loaded.name == "small"
    assert loaded.version == load_checkpoint(saved(tmp_path), MODEL).version != 0


class FewerTokens(TinyModel):
    """The tiny model, cut to its first tokens."""

    @property
    def card(self) -> ModelCard:
        return dataclasses.replace(super().card, vocabulary=99)


@pytest.mark.parametrize(
    ("model", "said"),
    [(FewerTokens(), "vocabulary of 260; this model has 99"), (TinyModel(seed=8), "other embeddings")],
)
def test_a_lens_of_another_model_is_refused(tmp_path: Path, model: TinyModel, said: str) -> None:
    with pytest.raises(CheckpointError, match=said) as caught:
        load_checkpoint(saved(tmp_path), model)
    assert "search" in str(caught.value.way_out)


def test_what_is_no_lens_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(path, MODEL)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path / "none.safetensors", MODEL)


def test_a_runtime_decodes_with_a_lens_and_its_trace_names_it() -> None:
    runtime = small_runtime(scorer())
    runtime.ingest(notes(12))
    runtime.question("which lamp was lit?")
    runtime.decode(6)
    assert runtime.state.last is not None
    assert set(dict(runtime.state.last.scores[0].parts)) == {"attention", *NAMES}
    assert (header_of(runtime).scorer, header_of(runtime).scorer_version) == ("small", 7)
