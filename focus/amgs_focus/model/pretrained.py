"""Any causal language model that transformers can load, frozen, as a BaseModel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from amgs_focus.model.base_model import KVCache, turns_keys
from amgs_focus.records import ModelCard

SINKS = 4
ASKED, ANSWERED, AGAIN = "FIRST-WORDS-OF-THE-USER", "WORDS-OF-THE-MODEL", "NEXT-WORDS-OF-THE-USER"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """Text around the turns of a chat.

    opening: before the user's first words. closing: between them and the answer. reopening: between an answer and the
    user's next words.
    """

    opening: str
    closing: str
    reopening: str


CHATML = ChatTemplate(
    opening="<|im_start|>user\n",
    closing="<|im_end|>\n<|im_start|>assistant\n",
    reopening="<|im_end|>\n<|im_start|>user\n",
)
"""Template for a model that has ChatML's tokens and no template of its own."""


class PrefixCache:
    """Keys and values of a prefix, in the library's dynamic cache."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @property
    def length(self) -> int:
        return int(self._raw.get_seq_length())

    def crop(self, length: int) -> None:
        # The library expects the number of entries to drop, negated.
        if (surplus := self.length - length) > 0:
            self._raw.crop(-surplus)

    @property
    def raw(self) -> Any:
        return self._raw


class _LayerReachedError(Exception):
    """Stops a forward pass at a layer whose states are wanted."""

    def __init__(self, states: torch.Tensor) -> None:
        super().__init__()
        self.states = states


class PretrainedModel:
    """A frozen transformers model and its tokenizer as a BaseModel."""

    def __init__(self, name: str, model: Any, tokenizer: Any, precision: str) -> None:
        model.eval()
        model.requires_grad_(False)
        self._model = model
        self._decoder = model.base_model
        self._embedding = model.get_input_embeddings()
        self._head = model.get_output_embeddings()
        self._tokenizer = tokenizer
        config = model.config.get_text_config()
        self._card = ModelCard(
            name=name,
            vocabulary=int(self._embedding.weight.shape[0]),
            width=int(self._embedding.weight.shape[1]),
            layers=int(config.num_hidden_layers),
            precision=precision,
            positions=int(getattr(config, "max_position_embeddings", None) or 0),
        )
        self._chat = _is_single(tokenizer, "<|im_start|>") and _is_single(tokenizer, "<|im_end|>")
        self._template = chat_template(tokenizer) or (CHATML if self._chat else None)
        self._sinks = self._choose_sinks()
        self._stops = self._choose_stops()
        self._stop_texts = tuple(self.decode([stop]) for stop in sorted(self._stops))

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def module(self) -> Any:
        """The library's own model."""
        return self._model

    def carries(self, adapter: str) -> None:
        """Record in the card which adapter is attached."""
        self._card = replace(self._card, adapter=adapter)

    def encode(self, text: str) -> list[int]:
        return [int(t) for t in self._tokenizer.encode(text, add_special_tokens=False)]

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def sinks(self) -> list[int]:
        return list(self._sinks)

    def turn(self, question: str) -> str:
        if self._template is not None:
            return f"\n\n{question}{self._template.closing}"
        return f"\n\nQuestion: {question}\nAnswer:"

    def reopen(self, *, ended: bool) -> str:
        if self._template is None:
            return "" if ended else "\n"
        between = self._template.reopening
        if ended:
            between = between.removeprefix(next((stop for stop in self._stop_texts if between.startswith(stop)), ""))
        return between

    @cached_property
    def rotates(self) -> bool:
        # an explicit mask replaces that of a sliding window
        config = self._model.config.get_text_config()
        return not getattr(config, "sliding_window", None) and turns_keys(self)

    @property
    def stops(self) -> frozenset[int]:
        return self._stops

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = self._embedding(tokens.to(self._embedding.weight.device))
        return rows

    def new_cache(self) -> KVCache:
        from transformers import DynamicCache

        return PrefixCache(DynamicCache())

    def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        output = self._decoder(
            inputs_embeds=embeddings.to(self._embedding.weight),
            past_key_values=None if cache is None else cache.raw,
            use_cache=cache is not None,
        )
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    def states(self, embeddings: torch.Tensor, layers: int) -> torch.Tensor:
        """Return (B, W, d) states after `layers` layers; later layers are not computed."""
        stack = next(
            module
            for module in self._decoder.modules()
            if isinstance(module, torch.nn.ModuleList) and len(module) == self._card.layers
        )

        def halt(_module: Any, _given: Any, output: Any) -> None:
            raise _LayerReachedError(output[0] if isinstance(output, tuple) else output)

        hook = stack[layers - 1].register_forward_hook(halt)
        try:
            self._decoder(inputs_embeds=embeddings.to(self._embedding.weight), use_cache=False)
        except _LayerReachedError as reached:
            return reached.states
        finally:
            hook.remove()
        raise AssertionError("the layer was not reached")

    def attention(self, embeddings: torch.Tensor, last: int, layers: int = 0) -> torch.Tensor:
        """Return (W,) the attention of the last positions to each, averaged over heads and the last `layers` layers, 0
        for all.

        For measurements only: the fast kernels do not return attention, so this pass runs the slow kernel.
        """
        before = self._model.config._attn_implementation
        self._model.set_attn_implementation("eager")
        try:
            output = self._decoder(inputs_embeds=embeddings, use_cache=False, output_attentions=True)
        finally:
            self._model.set_attn_implementation(before)
        layer_means = [layer[0, :, -last:].float().mean(dim=(0, 1)) for layer in output.attentions[-layers:]]
        return torch.stack(layer_means).mean(dim=0)

    def layers_of(self, cache: KVCache) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return keys and values of each layer, (1, heads, n, e)."""
        return [(layer.keys, layer.values) for layer in cache.raw.layers]

    def cache_of(self, layers: list[tuple[torch.Tensor, torch.Tensor]]) -> KVCache:
        """Return a cache with these keys and values."""
        cache = self.new_cache()
        for number, (keys, values) in enumerate(layers):
            cache.raw.update(keys, values, number)
        return cache

    def rotate_keys(self, keys: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        """Return rotary keys (1, heads, n, e) moved `by` (n,) positions each."""
        frequencies = self._decoder.rotary_emb.inv_freq.to(keys.device, torch.float32)
        angles = by.to(frequencies)[:, None] * frequencies  # (n, r / 2)
        cos, sin = (torch.cat([turn, turn], dim=-1) for turn in (angles.cos(), angles.sin()))
        width = cos.shape[-1]  # r: where only part of a head is rotary, it is the first part
        part = keys[..., :width].float()
        left, right = part.chunk(2, dim=-1)
        moved = (part * cos + torch.cat([-right, left], dim=-1) * sin).to(keys)
        return moved if width == keys.shape[-1] else torch.cat([moved, keys[..., width:]], dim=-1)

    def forward_gated(
        self, embeddings: torch.Tensor, cache: KVCache, bias: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor:
        output = self._decoder(
            inputs_embeds=embeddings,
            attention_mask=bias[None, None].to(embeddings),
            position_ids=positions[None].to(embeddings.device),
            past_key_values=cache.raw,
            use_cache=True,
        )
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self._head(hidden)
        return scores.float()

    def _choose_sinks(self) -> list[int]:
        """Return four ids that begin a document and, for a chat model, the user's turn."""
        tokenizer = self._tokenizer
        newline = self.encode("\n")[-1:]
        start = [t for t in (tokenizer.bos_token_id, tokenizer.eos_token_id) if t is not None][:1]
        if self._chat:
            opening = self.encode("<|im_start|>user\n")
            document = tokenizer.convert_tokens_to_ids("<|endoftext|>")
            first = document if _is_single(tokenizer, "<|endoftext|>") else opening[0]
            ids = [int(first), *opening]
        elif self._template is not None:
            opening = self.encode(self._template.opening)
            # the document's first token, then the end of the opening: a system's turn may come before it
            ids = opening if len(opening) <= SINKS else [*opening[:1], *opening[1 - SINKS :]]
        else:
            ids = [int(t) for t in start]
        filler = newline or ids[-1:] or [0]
        # pad after the first token, so that the user's words directly follow the turn's opening
        return [*ids[:1], *filler * (SINKS - len(ids)), *ids[1:]][:SINKS]

    def _choose_stops(self) -> frozenset[int]:
        stops: set[int] = set()
        configured = getattr(self._model.generation_config, "eos_token_id", None)
        for stop in (configured, self._tokenizer.eos_token_id):
            if isinstance(stop, int):
                stops.add(stop)
            elif stop is not None:
                stops.update(int(t) for t in stop)
        if self._chat:
            stops.add(int(self._tokenizer.convert_tokens_to_ids("<|im_end|>")))
        elif self._template is not None:
            ending = self.encode(self._template.reopening)[:1]
            stops.update(set(ending) & set(self._tokenizer.all_special_ids))
        return frozenset(stops)


def _is_single(tokenizer: Any, token: str) -> bool:
    return len(tokenizer.encode(token, add_special_tokens=False)) == 1


def chat_template(tokenizer: Any) -> ChatTemplate | None:
    """Return the tokenizer's template around a user's and a model's turn; None without one, or if it has other uses."""
    if not getattr(tokenizer, "chat_template", None):
        return None
    user, answer = {"role": "user", "content": ASKED}, {"role": "assistant", "content": ANSWERED}
    next_user = {"role": "user", "content": AGAIN}
    # Turn thinking off: an answer is shown as it is decoded.
    options = {"tokenize": False, "enable_thinking": False}
    try:
        prompt = str(tokenizer.apply_chat_template([user], add_generation_prompt=True, **options))
        chat = str(tokenizer.apply_chat_template([user, answer, next_user], **options))
        opening, closing = prompt.split(ASKED)
        reopening = chat.split(ANSWERED)[1].split(AGAIN)[0]
    except Exception:  # noqa: BLE001 - a template is a program of its own and raises what it likes
        return None
    return ChatTemplate(opening, closing, reopening)
