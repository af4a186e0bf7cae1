"""`documents`, `multihop`, `facts` and `inference` on texts made up here: what is asked or
concluded, what is right, and what the controls say beside it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.text.entities import RuleRecogniser
from benchmarks import inference
from benchmarks.documents import read_projects
from tests.benchmarks.rigs import memory_rig

LONG = (
    "The {0} is kept dry, and whoever turns the {0} writes down the hour, the place and the weather of that day. " * 3
)

MANUAL = f"""---
date: 2026-03-01
---
# Handbook

Words before the first section.

## Winding the lantern

{LONG.format("lantern")}

```
## no heading, but code
```

## Too short

Nothing much.

### Mending `sails`

{LONG.format("sail")}
"""


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    for name, text in (("harbour", MANUAL), ("empty", "# Only a title\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "guide.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_heading_over_enough_words_is_asked_for_and_stands_in_no_block(projects: Path) -> None:
    (project,) = read_projects(projects)
    assert [q.text for q in project.questions] == ["Winding the lantern in harbour", "Mending sails in harbour"]
    contents = {str(draft.meta["source"]): draft.content for draft in project.drafts}
    for question in project.questions:
        assert all("##" not in contents[s].replace("## no heading", "") for s in question.sources)
    held = "\n".join(contents.values())
    assert "Winding the" not in held and "## Too short" in held and "## no heading, but code" in held
    assert {draft.meta["title"] for draft in project.drafts} == {"Handbook"}
    assert [draft.meta.get("follows") for draft in project.drafts[:2]] == [None, "guide.md#1"]


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
