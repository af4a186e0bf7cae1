"""`packs`: what is kept of what supports an answer, on questions whose answer is known by heart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.text.embedding import HashingEmbedder
from benchmarks.bench_results import MemoryRig
from benchmarks.packs.pruning import measure_pruning

FILLER = [[f"Place {n}", [f"Place {n} lies at a river.", " Nobody knows when it was built."]] for n in range(14)]


def question(name: str, town: str) -> dict[str, object]:
    return {
        "question": f"In which county was {name} born?",
        "supporting_facts": [[name, 0], [town, 1]],
        "context": [
            [name, [f"{name} was born in {town}.", " She paints."]],
            *FILLER,
            [town, ["It is old.", f" {town} lies in a county in the north."]],
        ],
    }


def test_both_steps_of_a_question_are_kept_and_the_ceiling_is_above_chance(tmp_path: Path) -> None:
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=lambda text: len(text.split()))
    assert measure_pruning(rig, tmp_path) is None
    (tmp_path / "multihop").mkdir()
    given = [question("Ada Lovell", "Hartwick"), question("Bea Morland", "Quillham")]
    (tmp_path / "multihop" / "hotpotqa.json").write_text(json.dumps(given), encoding="utf-8")
    made = measure_pruning(rig, tmp_path)
    assert made is not None
    assert made.metrics["pruning_hotpotqa_ceiling"] == made.metrics["pruning_hotpotqa_kept"] == 100
    assert made.metrics["pruning_hotpotqa_random"] < 50
    (tmp_path / "multihop" / "hotpotqa.json").write_text("[{}]", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        measure_pruning(rig, tmp_path)
