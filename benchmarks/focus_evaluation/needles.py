"""Facts planted in a text and asked for later, each with eight answers to choose from.

The wrong answers stand nowhere in the text. The model is never asked to write: of the eight answers the one
with the lowest NLL after the question is its choice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from amgs_focus.model.base_model import BaseModel

CHOICES = 8
CHANCE = 1 / CHOICES

_OWNERS = """
Abel Anna Basil Bruno Cecil Clara Doris Edgar Elsa Felix Flora Gilda Greta Hugo Irma Ivan Jonas Karla Laura Leon
Lydia Marco Milo Nadia Nora Oscar Paula Pedro Quinn Ralph Rosa Simon Sonia Tessa Tomas Ursula Victor Wanda Xenia
"""
_THINGS = "lantern ladder compass trumpet kettle saddle anchor violin mirror barrel"
_PLACES = """
attic bakery barn cellar chapel garage garden harbour kitchen library mill museum office orchard pantry quarry
school stable tavern tower vineyard workshop
"""


@dataclass(frozen=True, slots=True)
class Needle:
    """statement: what is planted. stem: how every answer begins. options: the answers, the right one at
    `right`; key: the part of the statement that has to be read to answer.
    """

    statement: str
    question: str
    stem: str
    options: tuple[str, ...]
    right: int

    @property
    def key(self) -> str:
        return self.options[self.right]


def pass_keys(count: int, seed: int) -> tuple[Needle, ...]:
    """So many pass keys, each of another owner; five digits, told once."""
    rng = random.Random(f"keys {seed}")
    numbers = [f"{n}" for n in rng.sample(range(10_000, 100_000), count * CHOICES)]
    made = []
    rights = _rights(count, rng)
    for number, owner in enumerate(_owners(count, rng)):
        options = tuple(numbers[number * CHOICES : (number + 1) * CHOICES])
        right = rights[number]
        key = options[right]
        made.append(
            Needle(
                f" The pass key of {owner} is {key}. ",
                f"What is the pass key of {owner}?",
                f"The pass key of {owner} is ",
                options,
                right,
            )
        )
    return tuple(made)


def facts(count: int, seed: int) -> tuple[Needle, ...]:
    """So many plain sentences about where somebody keeps something."""
    rng = random.Random(f"facts {seed}")
    made = []
    rights = _rights(count, rng)
    for right, owner in zip(rights, _owners(count, rng), strict=True):
        thing = rng.choice(_THINGS.split())
        options = tuple(rng.sample(_PLACES.split(), CHOICES))
        made.append(
            Needle(
                f" {owner} keeps the old {thing} in the {options[right]}. ",
                f"Where does {owner} keep the old {thing}?",
                f"{owner} keeps the old {thing} in the ",
                options,
                right,
            )
        )
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Planted:
    """A needle in a text: tokens [start, end) of its statement, [key_start, key_end) where its key first stands."""

    needle: Needle
    start: int
    end: int
    key_start: int
    key_end: int


def plant(
    model: BaseModel, text: Sequence[int], needles: Sequence[Needle], length: int, block: int, seed: int
) -> tuple[list[int], tuple[Planted, ...]]:
    """(`length` tokens of the text with the needles in it, where they stand), evenly over the whole depth.

    Each replaces tokens of the text. Every second one is shifted so that its key lies across the edge of two
    blocks. Raises ValueError when they do not fit.
    """
    rng = random.Random(f"places {seed}")
    tokens = list(text[:length])
    part = length // len(needles)
    placed = []
    for number, needle in enumerate(needles):
        before, _, behind = needle.statement.partition(needle.key)
        head, key = model.encode(before), model.encode(needle.key)
        whole = [*head, *key, *model.encode(behind)]
        if part < len(whole) + 2 * block or len(tokens) < length:
            raise ValueError(f"{len(needles)} needles do not fit {length} tokens")
        start = number * part + block + rng.randrange(part - len(whole) - 2 * block + 1)
        at = (start + len(head)) % block  # the key's place in its block
        wanted = block - max(1, len(key) // 2) if number % 2 else min(at, block - len(key))
        start += (wanted - at) % block if number % 2 else wanted - at
        tokens[start : start + len(whole)] = whole
        placed.append(
            Planted(needle, start, start + len(whole), start + len(head), start + len(head) + len(key))
        )
    return tokens[:length], tuple(placed)


def choose(model: BaseModel, prefix: torch.Tensor, needle: Needle) -> int:
    """(W, d) entries that end where an answer begins -> the option that the model finds likeliest."""
    losses = needle_nll(model, prefix, needle)
    return min(range(len(losses)), key=losses.__getitem__)


def needle_nll(model: BaseModel, prefix: torch.Tensor, needle: Needle) -> list[float]:
    """(W, d) entries that end where an answer begins -> the summed NLL of each option behind the stem, in nats."""
    # the space belongs to the word that follows, as in running text
    answers = [model.encode(f" {option}") for option in needle.options]
    return option_nll(model, prefix, model.encode(needle.stem.rstrip(" ")), answers)


def option_nll(
    model: BaseModel, prefix: torch.Tensor, stem: Sequence[int], answers: Sequence[Sequence[int]]
) -> list[float]:
    """(W, d) entries, the ids of a stem behind them and of each answer behind both -> summed NLLs in nats."""
    losses = []
    with torch.no_grad():
        cache = model.new_cache()
        rows = torch.cat([prefix, model.embed(torch.tensor([*stem], dtype=torch.int64)).to(prefix)])
        hidden = model.forward(rows[None], cache)[0, -1:]
        first = torch.log_softmax(model.logits(hidden).double(), dim=-1)[0]
        for answer in answers:
            loss = -float(first[answer[0]])
            if len(answer) > 1:
                ids = torch.tensor(answer, dtype=torch.int64)
                hidden = model.forward(model.embed(ids[:-1])[None].to(prefix), cache)[0]
                cache.crop(len(rows))
                logs = torch.log_softmax(model.logits(hidden).double(), dim=-1)
                loss -= float(logs.gather(1, ids[1:, None].to(logs.device)).sum())
            losses.append(loss)
    return losses


def _rights(count: int, rng: random.Random) -> list[int]:
    """Where the right answers stand, evenly: always naming one place gains nothing."""
    places = [number % CHOICES for number in range(count)]
    rng.shuffle(places)
    return places


def _owners(count: int, rng: random.Random) -> list[str]:
    """Names that nobody shares; two words when there are many."""
    names = _OWNERS.split()
    if count <= len(names):
        return rng.sample(names, count)
    return rng.sample([f"{first} {second}" for first in names for second in names if first != second], count)
