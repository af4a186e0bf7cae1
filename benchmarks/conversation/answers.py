"""How much better a frozen model expects the answer when it has read a seventh of what was said (answer NLL).

Of each question the gap is the NLL of its answer after nothing less that after the whole stretch; what a context keeps
is its own gain as a share of that, in the mean of all questions. The stretch is of 2,000 tokens at most, so that the
model reads the whole of it as well: see `answer_data`. Questions are left out where a seventh does not hold the last
message, which is always kept. Controls: a random seventh, the latest, masking of tool outputs,
BM25 with neighbours, the evidence alone, and the answers of other questions after our contexts.

Questions with their answers, each asked of a stretch of its conversation that a small model reads whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.material import MessageCounter
from amgs.conversation.messages import number_sessions
from amgs.conversation.written import ModelSummariser
from amgs.errors import ImpossibleBudgetError
from amgs.memory import Memory
from amgs.types.conversation import ContextStrategy, Message, OptimisedContext
from amgs_app.models.choice import LocalModel
from benchmarks import locomo_data
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.evidence import SHARE, greedy
from benchmarks.locomo_data import Conversation
from benchmarks.references import Bm25, with_neighbours
from benchmarks.stores import open_memory

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel


LENGTH = 2_000
"""Tokens of a stretch at most: what is read in full still lies within what a model of this size was trained on."""
_OF_ONE = 3
"""Questions that are asked of one stretch at most."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question, its answer, and the places in the stretch, from 0, of the messages that answer it."""

    text: str
    answer: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sessions of a conversation in the order of time, as `memory.conversation.add` takes messages, and what is asked
    of them. now: the clock of its memory.
    """

    name: str
    messages: tuple[Mapping[str, Any], ...]
    questions: tuple[AnsweredQuestion, ...]
    now: datetime


def stretches(folder: Path, count: Callable[[str], int]) -> list[Stretch]:
    """The sessions that hold the evidence of a question, and of those around them the nearest that fit.

    Questions whose evidence lies in sessions that are longer than LENGTH, adversarial ones and those without an answer
    are left out. () where the folder is not there.
    """
    if not any(folder.glob("*.json")):
        return []
    return [made for one in locomo_data.read_folder(folder) for made in _of(one, count)]


def drawn(found: Sequence[Stretch], questions: int, seed: int) -> Iterator[Stretch]:
    """Stretches at random, with at most three questions of each, until there are so many questions."""
    chance = np.random.default_rng(seed)
    left = questions
    for place in chance.permutation(len(found)):
        if left <= 0:
            return
        one = found[place]
        chosen = sorted(chance.permutation(len(one.questions))[: min(_OF_ONE, left)])
        left -= len(chosen)
        yield Stretch(one.name, one.messages, tuple(one.questions[at] for at in chosen), one.now)


def _of(one: Conversation, count: Callable[[str], int]) -> Iterator[Stretch]:
    messages, of_session, places = [], [], {}
    for place, draft in enumerate(one.drafts):
        places[str(draft.meta["source"])] = place
        of_session.append(str(draft.meta["source"]).partition("#")[0])
        speaker = str(draft.meta["speaker"])
        said = draft.content.removeprefix(f"{speaker}: ").removesuffix(f"\n({draft.meta['date']})")
        messages.append({"speaker": speaker, "text": said, "at": draft.created_at})
    names = list(dict.fromkeys(of_session))
    members = [[place for place, name in enumerate(of_session) if name == session] for session in names]
    lengths = [sum(count(f"{messages[p]['speaker']}: {messages[p]['text']}\n") for p in held) for held in members]
    asked: dict[tuple[int, ...], list[tuple[str, str, list[int]]]] = {}
    for question in one.questions:
        evidence = [places[source] for source in question.evidence]
        within = around(sorted({names.index(of_session[place]) for place in evidence}), lengths)
        if within and question.answer and question.category != locomo_data.ADVERSARIAL:
            asked.setdefault(within, []).append((question.text, question.answer, evidence))
    for number, (within, those) in enumerate(asked.items()):
        held = [place for session in within for place in members[session]]
        yield Stretch(
            f"{one.name}-{number}",
            tuple(messages[place] for place in held),
            tuple(AnsweredQuestion(q, a, frozenset(held.index(p) for p in e)) for q, a, e in those),
            one.now,
        )


def around(wanted: Sequence[int], lengths: Sequence[int], most: int = LENGTH) -> tuple[int, ...]:
    """The wanted sessions, and of the others the nearest that still fit, in order; () where the wanted ones do not."""
    left = most - sum(lengths[session] for session in wanted)
    if left < 0:
        return ()
    held = set(wanted)
    others = set(range(len(lengths))) - held
    for session in sorted(others, key=lambda s: (min(abs(s - w) for w in wanted), s)):
        if lengths[session] > left:
            break
        held.add(session)
        left -= lengths[session]
    return tuple(sorted(held))


QUESTIONS = 120
GOALS: Mapping[str, tuple[Comparator, float]] = {"gap_kept_7": (">=", 0.85), "gap_kept_7_of_evidence": (">=", 0.85)}
NONE, FULL, EVIDENCE, OURS = "nothing", "the whole stretch", "evidence alone", "amgs"
RANDOM, RECENT, MASK, NEIGHBOURS = "random", "recent", "masking", "BM25 + neighbours"
LEVELS, ABSTRACTIVE = "levels: cited", "abstractive: by the model"
SHUFFLED = "amgs, answers of other questions"
_NAMES = {
    OURS: "gap_kept_7",
    EVIDENCE: "gap_evidence",
    NEIGHBOURS: "gap_bm25_neighbours",
    RANDOM: "gap_random",
    RECENT: "gap_recent",
    MASK: "gap_masking",
    LEVELS: "gap_levels",
    ABSTRACTIVE: "gap_abstractive",
    SHUFFLED: "gap_shuffled",
}
_DRAWS = 2_000
_OTHER = ", other"
"""Ends the name of a method whose context is read before another question's answer."""

Losses = dict[str, list[float]]
"""Nats a token by what was read, one value a question."""


def measure_answers(
    rig: MemoryRig, data: Path, model: Callable[[], BaseModel], questions: int = QUESTIONS, *, abstractive: bool = False
) -> SubjectResult | None:
    """Judge so many questions of `locomo/` and `realtalk/`, half of each; None where there are none.

    abstractive: also after a seventh in levels, as citations and as the model's own summaries of the same.
    """
    corpora = {name: stretches(data / name, rig.count_tokens) for name in ("locomo", "realtalk")}
    corpora = {name: found for name, found in corpora.items() if found}
    if not corpora or not questions:
        return None
    frozen = model()
    by_corpus: dict[str, Losses] = {}
    groups: dict[str, list[str]] = {}
    left_out = 0
    for name, found in corpora.items():
        share = -(-questions // len(corpora))
        chosen = list(drawn(found, share, rig.seed))
        wrong = _others([q.answer for one in chosen for q in one.questions])
        losses: Losses = defaultdict(list)
        groups[name] = []
        start = 0
        for place, one in enumerate(chosen):
            rig.progress(place, len(chosen), f"answers of {name}")
            try:
                _judge(one, rig, frozen, wrong[start:], losses, abstractive=abstractive)
                groups[name] += [one.name] * len(one.questions)
            except ImpossibleBudgetError:
                left_out += len(one.questions)
            start += len(one.questions)
        by_corpus[name] = losses
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    pooled: Losses = defaultdict(list)
    for losses in by_corpus.values():
        for method, values in losses.items():
            pooled[method] += values
    for name, losses in {**by_corpus, "all": dict(pooled)}.items():
        groups_here = groups[name] if name in groups else [f"{c} {g}" for c in groups for g in groups[c]]
        for method in losses:
            if method.endswith(_OTHER):
                continue
            kept, low, high = _kept(losses, method, groups_here)
            rows.append(
                (name, method, str(len(groups_here)), float(np.mean(losses[method])), kept, f"{low:.2f}–{high:.2f}")
            )
            if method in _NAMES:
                metrics[_NAMES[method] if name == "all" else f"{_NAMES[method]}_{name}"] = kept
    metrics["gap_questions_left_out"] = float(left_out)
    metrics["gap_kept_7_of_evidence"] = metrics["gap_kept_7"] / metrics["gap_evidence"]
    table = BenchTable(
        f"Answers after 1/{SHARE} of stretches of ≤ {LENGTH:,} tokens, {frozen.card.name} in {frozen.card.precision}",
        ("corpus", "read", "questions", "nats a token", "gap kept", "95 %, by drawing stretches"),
        tuple(rows),
    )
    return SubjectResult(metrics, GOALS, (table,))


def _judge(
    one: Stretch, rig: MemoryRig, model: BaseModel, wrong: Sequence[str], losses: Losses, *, abstractive: bool
) -> None:
    """Read every context of a stretch once, and add what its questions' answers lose after each."""
    from benchmarks.focus_evaluation.answers import ContextReader

    read: dict[str, list[tuple[int, str]]] = defaultdict(list)
    summariser = ModelSummariser(LocalModel(lambda: model)) if abstractive else None
    with open_memory(rig, now=one.now, summariser=summariser) as memory:
        memory.conversation.add(one.name, one.messages)
        memory.apply_consolidation(memory.plan_consolidation())
        for number, question in enumerate(one.questions):
            for method, text in _contexts(one, memory, question, rig.seed, abstractive=abstractive).items():
                read[text].append((number, method))
    found: dict[tuple[int, str], float] = {}
    for text, wanted in read.items():
        reader = ContextReader(model, text)
        asked: dict[int, list[str]] = defaultdict(list)
        for number, method in wanted:
            asked[number].append(method)
        for number, methods in asked.items():
            question = one.questions[number]
            right, other = reader.nll(question.text, [question.answer, wrong[number]])
            for method in methods:
                found[number, method] = right
                if method in (NONE, OURS):
                    found[number, f"{method}{_OTHER}"] = other
    for number in range(len(one.questions)):
        for method in dict.fromkeys(method for place, method in found if place == number):
            losses[method].append(found[number, method])
        # the gain of another answer, laid on the same scale
        gain = found[number, f"{NONE}{_OTHER}"] - found[number, f"{OURS}{_OTHER}"]
        losses[SHUFFLED].append(found[number, NONE] - gain)


def _contexts(
    one: Stretch, memory: Memory, question: AnsweredQuestion, seed: int, *, abstractive: bool
) -> dict[str, str]:
    """What is read for a question, by method."""
    messages = memory.conversation.show(one.name)
    counter = MessageCounter.of(memory._opened.count_tokens)
    costs = np.array([counter.cost(message) for message in messages])
    budget = int(costs.sum()) // SHARE
    ours = memory.conversation.optimise(one.name, question.text, budget=budget)
    masked = memory.conversation.optimise(one.name, question.text, budget=budget, strategy="mask")
    of_session = [str(number) for number in number_sessions(messages)]
    scores = with_neighbours(Bm25([f"{m.speaker}: {m.text}" for m in messages]).scores(question.text), of_session)
    wanted = np.array([place in question.evidence for place in range(costs.size)])
    chance = np.random.default_rng([seed, *one.name.encode()])
    held: dict[str, NDArray[np.bool_]] = {
        FULL: np.ones(costs.size, dtype=np.bool_),
        EVIDENCE: wanted,
        NEIGHBOURS: greedy(scores, costs, budget),
        RANDOM: greedy(chance.random(costs.size), costs, budget),
        RECENT: greedy(np.arange(costs.size, dtype=np.float64), costs, budget),
    }
    shown = {name: _written(messages, np.flatnonzero(places)) for name, places in held.items()}
    levels: Mapping[str, ContextStrategy] = {LEVELS: "levels", ABSTRACTIVE: "abstractive"} if abstractive else {}
    for name, strategy in levels.items():
        context = memory.conversation.optimise(one.name, question.text, budget=budget, strategy=strategy)
        shown[name] = _sent(messages, context)
    return {NONE: "", **shown, OURS: _sent(messages, ours), MASK: _sent(messages, masked)}


def _sent(messages: Sequence[Message], context: OptimisedContext) -> str:
    """A context as it is sent, marks of gaps included."""
    lines: list[str | int] = [m.numbers[0] - 1 if m.fate == "kept" else m.text for m in context.messages]
    return _lines(messages, lines)


def _written(messages: Sequence[Message], places: Iterable[int]) -> str:
    return _lines(messages, [int(place) for place in places])


def _lines(messages: Sequence[Message], shown: Sequence[str | int]) -> str:
    """Messages by their places and other lines, with the date where another session begins."""
    of_session = number_sessions(messages)
    last, lines = 0, []
    for one in shown:
        if isinstance(one, str):
            lines.append(one)
            continue
        message = messages[one]
        if of_session[one] != last and message.at is not None:
            lines.append(f"({message.at:%-d %B %Y})")
        last = of_session[one]
        lines.append(f"{message.speaker}: {message.text}")
    return "\n".join(lines)


def _others(answers: Sequence[str]) -> list[str]:
    """For each answer that of a question far from it in the list."""
    half = max(1, len(answers) // 2)
    return [*answers[half:], *answers[:half]]


def _kept(losses: Losses, method: str, groups: Sequence[str]) -> tuple[float, float, float]:
    """What a context keeps of the gap, and its 95 % interval by drawing groups with replacement."""
    none, full, own = (np.asarray(losses[name]) for name in (NONE, FULL, method))
    names, of = np.unique(np.asarray(groups), return_inverse=True)
    gained = np.bincount(of, none - own, minlength=names.size)
    whole = np.bincount(of, none - full, minlength=names.size)
    picks = np.random.default_rng(0).integers(0, names.size, size=(_DRAWS, names.size))
    shares = gained[picks].sum(axis=1) / whole[picks].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(gained.sum() / whole.sum()), float(low), float(high)
