"""Embedders give unit vectors, the same ones every time; missing models say how to get them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.embedding import HashingEmbedder
from amgs.text.language_model import approximate_tokens


@given(st.lists(st.text(max_size=200), min_size=1, max_size=8))
def test_every_text_has_a_direction_of_length_one(texts: list[str]) -> None:
    vectors = HashingEmbedder(64).embed(texts)
    assert vectors.shape == (len(texts), 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_the_hashing_embedder_gives_the_same_vector_in_another_process() -> None:
    script = (
        "from amgs.text.embedding import HashingEmbedder\nprint(HashingEmbedder().embed(['a dome'])[0].tobytes().hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {HashingEmbedder().embed(["a dome"])[0].tobytes().hex() + "\n"}


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_token_count_adds_up_over_lines(one: str, other: str) -> None:
    assert approximate_tokens(f"{one}\n{other}") == approximate_tokens(one) + approximate_tokens(other) + 1
