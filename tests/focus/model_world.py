"""Random models of a few thousand weights in the library's own format, with a byte tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


LANGUAGE_MODELS = ("Llama", "GPT2", "Qwen3", "SmolLM3")
UNFIT = {
    "Granite": "rescales its logits",
    "Mamba": "cannot continue from the cached keys and values",
    "Bert": "reads what comes after",
    "T5": "not a causal language model",
    "Bart": "cannot take embeddings",
}
"""Architectures that are refused, and why."""


def write_model(
    folder: Path,
    kind: str = "Llama",
    *,
    specials: tuple[str, ...] = CHAT,
    positions: int = 512,
    template: str = "",
    seed: int = 0,
) -> Path:
    """A random model of width 16 over bytes. template: of its tokenizer, for conversations."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast as FastTokenizer

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={sign: i for i, sign in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = FastTokenizer(tokenizer_object=bytewise)  # type: ignore[no-untyped-call]
    tokenizer.add_special_tokens({"additional_special_tokens": list(specials)})
    tokenizer.eos_token = specials[-1]
    tokenizer.chat_template = template or None
    _random(kind, positions, len(tokenizer), int(tokenizer.eos_token_id), seed).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _random(kind: str, positions: int, vocabulary: int, end: int, seed: int = 0) -> Any:
    import transformers

    sizes: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": positions,
        "bos_token_id": end,
        "eos_token_id": end,
    }
    own: dict[str, dict[str, Any]] = {
        "Granite": {"logits_scaling": 4.0},
        "Qwen3": {"num_key_value_heads": 1, "head_dim": 8},
        "SmolLM3": {"num_key_value_heads": 1, "pad_token_id": end},
        "Mamba": {"state_size": 4},
        "T5": {"num_heads": 2, "d_kv": 8, "num_layers": 1, "decoder_start_token_id": end},
        "Bart": {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
                 "decoder_attention_heads": 2, "decoder_start_token_id": end},
    }  # fmt: skip
    head = {"Bert": "MaskedLM", "T5": "ConditionalGeneration", "Bart": "ConditionalGeneration", "GPT2": "LMHeadModel"}
    config = getattr(transformers, f"{kind}Config")(**sizes, **own.get(kind, {}))
    name = head.get(kind, "CausalLM")
    torch.manual_seed(seed)
    return getattr(transformers, f"{kind}{name}" if kind == "GPT2" else f"{kind}For{name}")(config)
