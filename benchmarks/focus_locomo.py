"""`focus-locomo`: questions about long conversations, the right answer to be chosen among eight.

Seven wrong answers are drawn from other questions of the same category and, where it has enough of them, the same
conversation. After the context and the question the likeliest answer is the choice: by its mean log-likelihood a token
(`acc`, length-normalised), by their sum (`acc_sum`), and by what the context adds to the mean (`acc_gain`: less the
mean without any context, so that an answer that is likely anyway gains nothing). Focus, the latest tokens and
retrieval have the same room; beside them no context at all, and the turns that hold the answer. Adversarial questions
have no right answer and are left out.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from amgs.errors import InputError
from amgs.text.embedding import Embedder
from amgs_focus.evaluation.statistics import Interval, resampled
from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS
from benchmarks.bench_results import BenchResult, BenchTable
from benchmarks.focus_evaluation.asking import asked
from benchmarks.focus_evaluation.needles import CHANCE, CHOICES, option_nll
from benchmarks.focus_evaluation.retrieval import ChunkRetrieval, tail_of
from benchmarks.focus_rig import FocusRig
from benchmarks.frame import Bench
from benchmarks.ledger import Ledger, Row
from benchmarks.locomo_data import ADVERSARIAL, CATEGORIES, Conversation, LocomoQuestion, read_folder
from benchmarks.retrieval import retrievals

BENCH = Bench(
    "focus-locomo",
    {"focus_above_window_low": (">=", 0.0), "focus_above_rag_low": (">=", 0.0), "acc_focus": (">=", 12.5)},
)
SETTINGS = FocusSettings(window=512)
SEED = 0
SYSTEMS = {
    "focus": "focus",
    "window": "latest tokens",
    "rag": "BM25",
    "dense": "dense",
    "none": "no context",
    "evidence": "the evidence itself",
}
WAYS = {"acc": "mean", "acc_sum": "sum", "acc_gain": "mean less that without context"}


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question with eight answers, the right one at `right`; evidence: token spans of the turns that hold it."""

    number: int
    text: str
    category: int
    options: tuple[str, ...]
    right: int
    evidence: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ConversationTokens:
    """A conversation as tokens, and where each turn stands in them, by its source."""

    name: str
    tokens: tuple[int, ...]
    turns: Mapping[str, tuple[int, int]]


def run(
    rig: FocusRig,
    embedder: Embedder,
    data: Path,
    *,
    questions: int = 40,
    settings: FocusSettings = SETTINGS,
) -> BenchResult:
    """Ask up to `questions` questions of each conversation of a folder; a quick run, a tenth of them.

    Raises InputError where the folder holds no conversation, or too few different answers.
    """
    questions = max(2, questions // 10) if rig.quick else questions
    conversations = read_folder(data)
    told = {
        **rig.parts(),
        **rig.searching(),
        **settings.model_dump(),
        "conversations": {one.name: _mark(one) for one in conversations},
        "embedder": embedder.name,
        "seed": SEED,
    }
    ledger = rig.ledger(BENCH, told)
    plain = {name: each for name, each in retrievals(rig.model, embedder).items() if name in SYSTEMS}
    rows: list[Row] = []
    groups: list[int] = []
    for place, conversation in enumerate(conversations):
        rig.progress(place, len(conversations), f"conversation {conversation.name}")
        found = _conversation(rig, plain, conversation, conversations, questions, settings, ledger)
        rows += found
        groups += [place] * len(found)
    shown = {**told, "questions": len(rows), "chance": 100 * CHANCE, "rows": str(ledger.path)}
    tables = (_table(rows, groups), _by_category(rows))
    return BENCH.result(shown, _metrics(rows, groups), tables)


def choice_questions(
    conversation: Conversation,
    others: Sequence[Conversation],
    turns: Mapping[str, tuple[int, int]],
    count: int,
) -> list[ChoiceQuestion]:
    """Up to `count` questions of a conversation that have an answer, drawn with the seed, in the file's order.

    Raises InputError where fewer than eight different answers of a category are found.
    """
    answered = [
        (number, one) for number, one in enumerate(conversation.questions) if one.category != ADVERSARIAL
    ]
    answered = [(number, one) for number, one in answered if one.answer]
    chooser = random.Random(f"{SEED} {conversation.name}")
    drawn = sorted(chooser.sample(answered, min(count, len(answered))), key=lambda pair: pair[0])
    made = []
    for number, one in drawn:
        draw = random.Random(f"{SEED} {conversation.name} {number}")
        wrong = _other_answers(one, conversation.questions)
        if len(wrong) < CHOICES - 1:
            wrong = _other_answers(
                one,
                [*conversation.questions, *(each for other in others for each in other.questions)],
            )
        if len(wrong) < CHOICES - 1:
            raise InputError(
                f"{conversation.name} has too few different answers of the kind {CATEGORIES[one.category]}.",
                way_out="Give a folder with more conversations.",
            )
        options = draw.sample(wrong, CHOICES - 1)
        right = draw.randrange(CHOICES)
        options.insert(right, one.answer)
        evidence = tuple(turns[source] for source in one.evidence)
        made.append(ChoiceQuestion(number, one.text, one.category, tuple(options), right, evidence))
    return made


def conversation_tokens(model: BaseModel, conversation: Conversation) -> ConversationTokens:
    """Its turns, each with its date, one after another."""
    tokens: list[int] = []
    turns = {}
    for draft in conversation.drafts:
        start = len(tokens)
        tokens += model.encode(f"{draft.content}\n\n")
        turns[str(draft.meta["source"])] = (start, len(tokens))
    return ConversationTokens(conversation.name, tuple(tokens), turns)


# --- one conversation -------------------------------------------------------------------------------------


def _conversation(
    rig: FocusRig,
    plain: Mapping[str, ChunkRetrieval],
    conversation: Conversation,
    others: Sequence[Conversation],
    count: int,
    settings: FocusSettings,
    ledger: Ledger,
) -> list[Row]:
    text = conversation_tokens(rig.model, conversation)
    chosen = choice_questions(conversation, others, text.turns, count)
    keys = {one.number: f"{conversation.name}/{one.number}" for one in chosen}
    if all(ledger.get(key) is not None for key in keys.values()):
        return [ledger.once(key, dict) for key in keys.values()]
    rows = []
    with closing(rig.lifetime(text.tokens, settings)) as tree:
        for done, one in enumerate(chosen):
            rig.progress(done, len(chosen), f"conversation {conversation.name}")
            measure = partial(_ask, rig, plain, tree, text, one, settings)
            rows.append(ledger.once(keys[one.number], measure))
    return rows


def _ask(
    rig: FocusRig,
    plain: Mapping[str, ChunkRetrieval],
    tree: LifetimeTree,
    text: ConversationTokens,
    one: ChoiceQuestion,
    settings: FocusSettings,
) -> Row:
    """Summed NLLs of the eight answers in nats by system, their lengths, and how much evidence each system shows."""
    model, tokens = rig.model, text.tokens
    turn = model.encode(model.turn(one.text))
    # where the model's turn opens with a new line the answer stands at its beginning
    gap = "" if model.turn(one.text).endswith("\n") else " "
    options = [model.encode(f"{gap}{option}") for option in one.options]
    room = (
        settings.window - SINKS - len(turn) - settings.cadence
    )  # an answer has as much as a cadence, as in the focus
    held = [place for start, end in one.evidence for place in range(start, end)]
    asked_of = model.encode(one.text)
    places = {
        "window": list(range(max(0, len(tokens) - room), len(tokens))),
        "none": [],
        "evidence": sorted(set(held))[:room],
    }
    for name, retrieval in plain.items():
        places[name] = retrieval.places(tokens, asked_of, room, tail_of(len(tokens), settings))
    context, rows, _ = asked(tree, rig.scorer, settings, one.text, rig.clock, rig.search)
    nll = {"focus": option_nll(model, rows, [], options)}
    opened = {
        place for entry in context.entries() if entry.level == 0 for place in range(entry.start, entry.end)
    }
    shown = {"focus": _share(held, opened)}
    for name, chosen in places.items():
        nll[name] = option_nll(model, _plain(model, [tokens[place] for place in chosen], turn), [], options)
        shown[name] = _share(held, set(chosen))
    return {
        "category": one.category,
        "right": one.right,
        "lengths": [len(option) for option in options],
        "nll": nll,
        "shown": shown,
        "used": context.used,
    }


def _plain(model: BaseModel, shown: Sequence[int], turn: Sequence[int]) -> torch.Tensor:
    with torch.no_grad():
        return model.embed(torch.tensor([*model.sinks(), *shown, *turn], dtype=torch.int64))


def _share(held: Sequence[int], shown: set[int]) -> float:
    return sum(place in shown for place in held) / max(1, len(held))


def _other_answers(one: LocomoQuestion, questions: Iterable[LocomoQuestion]) -> list[str]:
    """Different answers of the same category, in the order of the questions; none like the right one."""
    found: dict[str, str] = {}
    for other in questions:
        if other.category == one.category and other.answer:
            found.setdefault(other.answer.casefold(), other.answer)
    found.pop(one.answer.casefold(), None)
    return list(found.values())


def _mark(conversation: Conversation) -> str:
    told = [draft.content for draft in conversation.drafts]
    told += [f"{one.text} {one.answer}" for one in conversation.questions]
    return f"{zlib.crc32(' '.join(told).encode()):08x}"


# --- the result -------------------------------------------------------------------------------------------


def _right(row: Row, system: str, way: str) -> float:
    """Whether a system's likeliest answer is the right one."""
    nll = np.array(row["nll"][system])
    if way != "acc_sum":
        nll = nll / np.array(row["lengths"])
    if way == "acc_gain":
        nll = nll - np.array(row["nll"]["none"]) / np.array(row["lengths"])
    return float(np.argmin(nll) == row["right"])


def _metrics(rows: Sequence[Row], groups: Sequence[int]) -> dict[str, float]:
    metrics = {
        f"{way}_{system}": 100 * _accuracy(rows, system, way, groups).mean
        for way in WAYS
        for system in SYSTEMS
        if (way, system) != ("acc_gain", "none")
    }
    for rival in ("window", "rag", "dense", "none"):
        metrics[f"focus_above_{rival}_low"] = 100 * _above(rows, rival, groups).low
    return metrics


def _accuracy(rows: Sequence[Row], system: str, way: str, groups: Sequence[int]) -> Interval:
    values = [_right(row, system, way) for row in rows]
    return resampled({"x": values}, lambda means: means["x"], seed=SEED, groups=groups)


def _above(rows: Sequence[Row], rival: str, groups: Sequence[int]) -> Interval:
    pairs = {name: [_right(row, name, "acc") for row in rows] for name in ("focus", rival)}
    return resampled(pairs, lambda means: means["focus"] - means[rival], seed=SEED, groups=groups)


def _table(rows: Sequence[Row], groups: Sequence[int]) -> BenchTable:
    lines = []
    for system, named in SYSTEMS.items():
        held = [row["shown"][system] for row in rows]
        shown = resampled({"x": held}, lambda means: means["x"], seed=SEED, groups=groups)
        lines.append(
            (
                named,
                *(
                    ""
                    if (way, system) == ("acc_gain", "none")
                    else _accuracy(rows, system, way, groups).said(1, 100)
                    for way in WAYS
                ),
                "" if system in ("focus", "none") else _above(rows, system, groups).said(1, 100),
                shown.said(0, 100),
            )
        )
        if system == "none":
            lines[-1] = (*lines[-1][:4], _above(rows, system, groups).said(1, 100), lines[-1][5])
    columns = (
        "context",
        *(f"right by the {said}, %" for said in WAYS.values()),
        "focus less it, by the mean",
        "evidence shown as tokens, %",
    )
    return BenchTable(f"The likeliest of eight answers; chance is {100 * CHANCE}", columns, tuple(lines))


def _by_category(rows: Sequence[Row]) -> BenchTable:
    lines = []
    for category, named in CATEGORIES.items():
        if own := [row for row in rows if row["category"] == category]:
            right = (np.mean([_right(row, system, "acc") for row in own]) for system in SYSTEMS)
            lines.append((named, str(len(own)), *(f"{100 * float(share):.1f}" for share in right)))
    return BenchTable(
        "Right by the mean, by kind of question, percent",
        ("kind", "questions", *SYSTEMS.values()),
        tuple(lines),
    )
