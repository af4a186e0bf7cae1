"""Facts planted in a text and asked for later, each with eight answers to choose from.

The wrong answers stand nowhere in the text. The model is never asked to write: of the eight answers the one
with the lowest NLL after the question is its choice.

Asking a lifetime for what was planted in it: was it brought into sight, and was it answered.

Statements planted in a text, each asked for in its own words and in others: are they opened?
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, WorkingContext

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
        placed.append(Planted(needle, start, start + len(whole), start + len(head), start + len(head) + len(key)))
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


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """expanded: every token of the key stood in the working context as itself. answered: the right option was
    chosen. applied: expansions and collapses of the refocus.
    """

    expanded: bool
    answered: bool
    applied: int


def ask(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    planted: Planted,
    clock: PerfClock,
    search: QuestionSearch | None,
) -> AnswerCheck:
    """Lay the lifetime out, ask, refocus as after any question, choose. The lifetime is then as it was."""
    context, rows, applied = asked(tree, scorer, settings, planted.needle.question, clock, search)
    right = choose(tree.model, rows, planted.needle) == planted.needle.right
    return AnswerCheck(in_sight(context, planted), right, applied)


def asked(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    question: str,
    clock: PerfClock,
    search: QuestionSearch | None,
) -> tuple[WorkingContext, torch.Tensor, int]:
    """(the working context after a question and its refocus, its embeddings (W, d), actions that were applied).

    search: of the lifetime, as a session makes it; None leaves the question to the scorer. The lifetime is then as it
    was.
    """
    length = tree.length
    runtime = FocusRuntime(tree.model, scorer=scorer, settings=settings, tree=tree, clock=clock, search=search)
    try:
        runtime.question(question)
        record = runtime.refocus()
        context = runtime.context
        return context, context.embeddings(tree, 0, context.read), len(record.applied)
    finally:
        tree.truncate(length)


def in_sight(context: WorkingContext, planted: Planted) -> bool:
    """Whether every token of the key is an entry's own."""
    return stands_whole(context, planted.key_start, planted.key_end)


def stands_whole(context: WorkingContext, start: int, end: int) -> bool:
    """Whether every one of tokens [start, end) is an entry's own."""
    places = {context.covering(token) for token in range(start, end)}
    return all(place is not None and context.entries()[place].level == 0 for place in places)


def answers_from(model: BaseModel, tokens: Sequence[int], needle: Needle) -> bool:
    """Whether the right option is chosen after sinks, these tokens and the question, all in plain sight."""
    ids = [*model.sinks(), *tokens, *model.encode(model.turn(needle.question))]
    with torch.no_grad():
        rows = model.embed(torch.tensor(ids, dtype=torch.int64))
    return choose(model, rows, needle) == needle.right


def room_for_text(model: BaseModel, window: int, needle: Needle) -> int:
    """Tokens of text that a window holds beside the sinks, the question and its answer."""
    asked = len(model.encode(model.turn(needle.question)))
    answer = len(model.encode(needle.stem)) + max(len(model.encode(f" {o}")) for o in needle.options)
    return window - SINKS - asked - answer


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement, two questions that it answers, and its answer among those of its kind."""

    kind: str
    answer: str
    statement: str
    own_words: str
    other_words: str


@dataclass(frozen=True, slots=True)
class PlantedFact:
    """A fact and tokens [start, end) of its statement, without the spaces around it."""

    fact: Fact
    start: int
    end: int


def plant_facts(
    model: BaseModel, text: Sequence[int], facts: Sequence[Fact], length: int, seed: int
) -> tuple[list[int], tuple[PlantedFact, ...]]:
    """(`length` tokens of the text with the statements in the place of some, where they stand), spread evenly over the
    depth, at random within each part, without regard to blocks. Raises ValueError when they do not fit.
    """
    rng = random.Random(f"facts {seed}")
    tokens = list(text[:length])
    part = length // max(1, len(facts))
    placed = []
    for number, fact in enumerate(facts):
        ids = model.encode(f" {fact.statement} ")
        if len(tokens) < length or part <= len(ids):
            raise ValueError(f"{len(facts)} statements do not fit {length} tokens")
        start = number * part + rng.randrange(part - len(ids))
        tokens[start : start + len(ids)] = ids
        said = [at for at, token in enumerate(ids, start) if model.decode([token]).strip()]
        placed.append(PlantedFact(fact, said[0], said[-1] + 1))
    return tokens, tuple(placed)
