"""The bench of stated causes: what it reads, and that its controls can lose."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.packs import causal


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
    one, two, three = causal.read(tmp_path)
    assert one.relations == (
        causal.AnnotatedRelation(frozenset({3, 4}), frozenset({5}), frozenset({0, 1, 2})),
    )
    assert (one.causal, two.causal, two.relations) == (True, False, ())
    assert (three.causal, three.relations, three.document) == (True, None, "c")
    assert causal.read(tmp_path / "nothing") == ()
    assert causal._by_rule(two) == causal._halves(3, 0.5)
    assert causal._by_rule(three) == (frozenset({0, 1}), frozenset({4, 5}))
