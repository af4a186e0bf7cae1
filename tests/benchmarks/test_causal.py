"""The bench of stated causes: what it reads, and that its controls can lose."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks.packs import causal, causal_data
from benchmarks.packs.cause_tagger import CAUSE, EFFECT, clauses
from benchmarks.packs.cause_tagger_fit import FOLDS, CauseTaggerFit, TaggerExample, shuffled


def test_annotated_words_are_read_and_plain_sentences_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "causal"
    folder.mkdir()
    marked = "<ARG1>The dome stalled</ARG1> <SIG0>because of</SIG0> <ARG0>ice</ARG0> ."
    with (folder / "train_subtask2_grouped.csv").open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["doc_id", "text", "causal_text_w_pairs"])
        rows.writerow(["a", "The dome stalled because of ice .", [marked]])
        rows.writerow(["b", "It rained .", []])
    (folder / "train_subtask1.csv").write_text("index,text,label\na_1,The same .,1\n")
    (folder / "dev_subtask1.csv").write_text("index,text,label\nc_7,Thick ice led to a stall .,1\n")
    one, two, three = causal_data.read(tmp_path)
    assert one.relations == (
        causal_data.AnnotatedRelation(frozenset({3, 4}), frozenset({5}), frozenset({0, 1, 2})),
    )
    assert (one.causal, two.causal, two.relations) == (True, False, ())
    assert (three.causal, three.relations, three.document) == (True, None, "c")
    assert causal_data.read(tmp_path / "nothing") == ()
    assert causal._by_rule(two, np.zeros((3, 3))) == causal._halves(3, 0.5)
    assert causal._by_rule(three, np.zeros((7, 3))) == (frozenset({0, 1}), frozenset({4, 5}))


def test_clauses_are_the_two_best_runs_in_either_order() -> None:
    scores = np.zeros((7, 3))
    scores[1:3, EFFECT] = 0.9
    scores[4:7, CAUSE] = 0.8
    assert dict(clauses(scores)) == {EFFECT: (1, 3), CAUSE: (4, 7)}
    assert dict(clauses(scores[::-1])) == {CAUSE: (0, 3), EFFECT: (4, 6)}
    assert dict(clauses(np.zeros((3, 3)))) == {CAUSE: (0, 0), EFFECT: (0, 0)}


def test_the_head_learns_what_is_there_and_nothing_from_labels_dealt_out_at_random(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.packs.cause_tagger_fit._RIDGE", 1.0)
    dealt = np.random.default_rng(3)
    made = []
    for number in range(120):
        states = dealt.normal(size=(6, 4)).astype(np.float32)
        states[:, 0] = 0.0
        labels = np.zeros((6, 3))
        if number % 2:
            states[2, 0], labels[2] = 3.0, (1, 0, 0)
        made.append(TaggerExample(states, labels, bool(number % 2), number % FOLDS))
    causal_ones = np.array([one.causal for one in made])
    _, chances = CauseTaggerFit(made).across()
    _, random_ones = CauseTaggerFit(shuffled(made)).across()
    assert ((chances > 0.5) == causal_ones).mean() > 0.95
    assert ((random_ones > 0.5) == causal_ones).mean() < 0.8
