"""Embedders give unit vectors, the same ones every time; missing models say how to get them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.embedding import HashingEmbedder
from amgs.text.minilm import MiniLM
from amgs.text.tokens import approximate_tokens


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


@pytest.mark.real
def test_a_text_alone_gets_the_vector_it_gets_among_others() -> None:
    model = MiniLM(precision="float32")
    texts = [
        "Who keeps the dome key?",
        "",
        "  spaced \n out ",
        "long " * 2000,
        "The dome stood still. " * 40,
        "Émile's №5 — ça?",
        "a\0b",
    ]
    alone = np.stack([model.embed([text])[0] for text in texts])
    few = model.embed(texts)
    assert model._process is None
    model._spent = 1_000_000
    together = model.embed(texts)
    assert np.allclose(alone, together, atol=1e-4)
    assert np.allclose(few, together, atol=1e-4)
    assert np.allclose(model.embed(texts[:1])[0], alone[0], atol=1e-6)


@pytest.mark.real
def test_one_text_means_the_same_in_either_number_format() -> None:
    texts = ["Who keeps the dome key?", "", "The dome stood still. " * 40, "Émile's №5 — ça?"]
    exact, rounded = (
        np.stack([MiniLM(precision=form).embed([text])[0] for text in texts]) for form in ("float32", "bfloat16")
    )
    assert not np.array_equal(exact, rounded)
    assert (exact * rounded).sum(axis=1).min() > 0.9998
