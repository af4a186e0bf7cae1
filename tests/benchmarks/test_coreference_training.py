"""The net that scores antecedents, trained on candidates drawn here."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from amgs.conversation.coreference.pairs import FEATURES
from benchmarks.coreference.coreference_examples import Example, save
from benchmarks.coreference.coreference_net import CoreferenceTraining, batch_of, named_only
from benchmarks.coreference.coreference_run import read_examples, train

STATES, HEADS = 8, 4


def drawn_example(seed: int, size: int = 5) -> Example:
    """The right candidate is the one that begins its sentence; the second and the fourth are pronouns."""
    drawn = np.random.default_rng(seed)
    features = drawn.random((size, len(FEATURES) + 1)).astype(np.float32)
    features[:, -1] = 1.0
    for kind in ("person", "they", "it"):
        features[:, FEATURES.index(f"candidate is {kind}")] = 0.0
    features[1::2, FEATURES.index("candidate is person")] = 1.0
    right = np.arange(size) == drawn.integers(size)
    features[:, FEATURES.index("begins its sentence")] = right
    attention = drawn.random((size, HEADS)).astype(np.float32)
    candidates = drawn.random((size, STATES)).astype(np.float32)
    return Example(features, attention, candidates, drawn.random(STATES).astype(np.float32), right)


def test_the_trained_net_finds_the_sign_in_a_form_that_was_left_out(tmp_path: Path) -> None:
    for name in ("gap-development-0", "gap-validation-0", "litbank-a", "litbank-b", "gum-c"):
        save(tmp_path / f"{name}.npz", [drawn_example(i) for i in range(30)])
    forms, apart, left_out = read_examples(tmp_path, "gum")
    assert set(forms) | set(apart) == {"gap", "litbank"} and set(left_out) == {"gum"}
    assert len(forms["gap"]) + len(apart["gap"]) == 30  # GAP's validation half judges
    settings = CoreferenceTraining(
        steps=60, batch=8, warmup=5, projection=4, hidden=8, dropout=0.0, rate=0.02
    )
    state = train(settings, forms, apart, tmp_path / "out")
    net = state.net.eval()
    hits = []
    for one in left_out["gum"]:
        batch = batch_of([one])
        hits.append(one.right[int(net(batch.plain, batch.anaphor, batch.candidates)[0].argmax())])
    assert np.mean(hits) > 0.8


def test_pronouns_are_left_out_only_where_a_name_tells_the_same() -> None:
    for seed in range(12):
        one = drawn_example(seed)
        kept = named_only(one, np.random.default_rng(seed))
        pronoun = kept.features[:, FEATURES.index("candidate is person")] > 0
        if one.right[1::2].any():
            assert kept is one
        else:
            assert not pronoun.any() and kept.right.sum() == 1 and len(kept.right) in (2, 3)
