"""`documents`, `multihop`, `facts` and `inference` on texts made up here: what is asked or
concluded, what is right, and what the controls say beside it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.text.entities import RuleRecogniser
from benchmarks import inference
from tests.benchmarks.rigs import memory_rig


def test_findings_are_right_where_they_were_planted_or_a_reader_says_so(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a-kiln.md").write_text("The kiln at the quarry burns 41 sacks of coal a week.\n", encoding="utf-8")
    (notes / "kiln.md").write_text(
        "The kiln at the quarry now burns 38 sacks of coal a week, not 41.\n", encoding="utf-8"
    )
    labels = tmp_path / "labels.tsv"
    labels.write_text("category\tkiln.md\tnote\n", encoding="utf-8")
    plain = inference.run(memory_rig(), notes, RuleRecogniser(), labels).metrics
    assert plain["blocks"] == 22 and plain["sure_foreign"] == 1 and plain["labelled"] == 1
    assert plain["planted_recall"] >= 0.8 > plain["simplest_planted_recall"] > 0
    labels.write_text("supersedes\ta-kiln.md\tkiln.md\tright\n", encoding="utf-8")
    read = inference.run(memory_rig(), notes, RuleRecogniser(), labels).metrics
    assert read["sure_precision"] > plain["sure_precision"]
    assert read["simplest_precision"] > plain["simplest_precision"]
    labels.write_text("no label\n", encoding="utf-8")
    with pytest.raises(InputError, match="no label"):
        inference.run(memory_rig(), notes, RuleRecogniser(), labels)
