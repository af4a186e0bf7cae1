"""Rigs for benches in tests: the tiny model with pointers for gists and the baseline for a scorer, hashed words."""

from __future__ import annotations

from pathlib import Path

from amgs.text.embedding import HashingEmbedder
from amgs.text.language_model import approximate_tokens
from amgs.types import Progress
from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.tiny import TinyModel
from benchmarks.bench_results import MemoryRig
from benchmarks.focus_rig import FocusRig, TokenCorpus


def focus_rig(out: Path, *corpora: TokenCorpus, model: BaseModel | None = None) -> FocusRig:
    return FocusRig(
        model=model or TinyModel(),
        encoder=PointerEncoder(),
        scorers=[TailSimilarity()],
        corpora=corpora,
        out=out,
        progress=Progress(),
    )


def memory_rig() -> MemoryRig:
    return MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
