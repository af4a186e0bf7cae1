"""Failures planted in conversations of others: questions that a memory answers, until one thing is done to it.

Each is planted by an operation that people use, on a turn of its own. Only questions are taken whose turn the whole
memory has in its frame, so that what was planted is the one cause.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amgs.diagnosis import wording
from amgs.errors import BudgetError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import Frame
from amgs.types.diagnosis import DiagnosisCause
from amgs_app.benches import diagnose_facts, diagnose_sent
from amgs_app.benches.diagnose_facts import FactsFound
from amgs_app.benches.locomo_data import ADVERSARIAL, Conversation, source_of
from amgs_app.benches.rig import MemoryRig
from amgs_app.benches.stores import BenchClock, conversation_store

FRAME = "ATTENTION"
PLANTED: tuple[tuple[DiagnosisCause, int], ...] = (
    ("not stored", 5),
    ("not consolidated", 5),
    ("superseded", 5),
    ("not found", 4),
    ("out-voted", 4),
    ("over budget", 4),
    ("left out of the conversation", 8),
    ("collapsed", 5),
)
"""Forty. Of what a conversation left out, two of four were left out of calls that the gateway recorded."""
_OTHERS = 12
"""Questions of the same conversation that nothing is done to."""
_BUDGETS = (200, 140, 100, 70)
"""Tokens that leave a fact out; the largest that does is taken."""
_ECHOES = 90
"""How often somebody repeats a question whose answer is to be out-voted."""
_ECHOED = 4
"""How many times so many are added at most after that."""
TALK = "talk"
"""What the conversation is called where it is held as messages."""
_NOTHING_DONE: frozenset[DiagnosisCause] = frozenset(
    {"over budget", "left out of the conversation", "collapsed"}
)
"""Planted by how the question is asked: where one cannot be, another question takes its place."""
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class PlantedFailure:
    """A question, the fact that its answer misses, and why. source, block: of the turn that says the fact; said: its
    longest sentence. retold: whether the fact is told in other words than the turn's. asked: the question as it is
    asked, which may be in other words. exchange: the recorded call that left it out, the one before it did not; None
    where none is asked about.
    """

    cause: DiagnosisCause
    question: str
    asked: str
    source: str
    block: str
    said: str
    fact: str
    retold: bool
    budget: int | None = None
    exchange: int | None = None


@dataclass(frozen=True, slots=True)
class FailureWorld:
    """A memory with its planted failures. talk: a memory that holds the conversation as messages. others: questions
    that nothing was done to, with the blocks and sentences of their turns. dropped: what could not be planted. facts:
    what became of all retold facts, before anything was planted.
    """

    memory: Memory
    talk: Memory
    failures: tuple[PlantedFailure, ...]
    others: tuple[tuple[str, str, str], ...]
    dropped: tuple[str, ...]
    facts: FactsFound


@contextmanager
def planted(
    rig: MemoryRig, conversation: Conversation, path: Path, share: Mapping[DiagnosisCause, int]
) -> Iterator[FailureWorld]:
    """Plant so many failures of each cause in a conversation, drawn by the rig's seed."""
    chance = random.Random(f"{rig.seed} {conversation.name}")
    retold = _retold(path) or {source: fact for fact, source in diagnose_facts.answered(conversation)}
    store = conversation_store(conversation, rig.embedder, rig.progress)
    with store as whole, _talk(rig, conversation) as talk:
        looked_for = diagnose_facts.found(whole, conversation, retold, rig.seed)
        answered = list(_answered(whole, conversation, retold))
        chance.shuffle(answered)
        failures: list[PlantedFailure] = []
        for cause, count in _fitting(share, len(answered)).items():
            for place in range(count):
                told = len(failures) % 2 == 1
                call = cause == "left out of the conversation" and place % 4 > 1
                number = 2 * len(failures) + 2 if call else None
                failure = _failure(whole, conversation, answered.pop(), retold if told else {})
                failures.append(replace(failure, cause=cause, exchange=number))
        others = tuple(
            (question, whole.resolve_source(source)[0], _said(conversation, source))
            for question, source in answered[:_OTHERS]
        )
        spare = answered[_OTHERS:]
        _plant(whole, conversation, failures, [question for question, _, _ in others], chance)
        made: list[PlantedFailure] = []
        dropped: list[str] = []
        for failure in failures:
            asked = _asked(whole, talk, conversation, failure, chance)
            while asked is None:
                dropped.append(f"{failure.cause}: {failure.question}")
                if failure.cause not in _NOTHING_DONE or not spare:
                    break
                other = _failure(whole, conversation, spare.pop(), retold if failure.retold else {})
                failure = replace(other, cause=failure.cause, exchange=failure.exchange)
                asked = _asked(whole, talk, conversation, failure, chance)
            if asked is not None:
                made.append(asked)
        yield FailureWorld(whole, talk, tuple(made), others, tuple(dropped), looked_for)


def look(memory: Memory, question: str, budget: int | None = None) -> Frame:
    """What a question gets, without a trace."""
    return memory.assemble(FRAME, query=question, budget=budget, reinforce=False)


def has(frame: Frame, block: str, said: str) -> bool:
    """Whether a frame says a sentence, by its block."""
    return any(c.block.id == block and said in c.excerpt for c in frame.selected)


def _fitting(share: Mapping[DiagnosisCause, int], questions: int) -> dict[DiagnosisCause, int]:
    """The share, or where there are not so many questions, a part of each; a quarter of the questions is left alone."""
    room, wanted = questions - min(_OTHERS, questions // 4), sum(share.values())
    return {cause: min(count, count * room // max(wanted, 1)) for cause, count in share.items()}


# --- choosing ---------------------------------------------------------------------------------------------


def _answered(
    memory: Memory, conversation: Conversation, retold: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Questions whose one turn is in the frame, one a turn."""
    seen: set[str] = set()
    for one in conversation.questions:
        source = one.evidence[0]
        if one.category == ADVERSARIAL or len(one.evidence) > 1 or source in seen or source not in retold:
            continue
        said, told = _said(conversation, source), _said(conversation, source, retold[source])
        blocks = memory.resolve_source(source)
        if len(said.split()) < 6 or not blocks:
            continue
        frame = look(memory, one.text)
        if has(frame, blocks[0], said) and has(frame, blocks[0], told):
            seen.add(source)
            yield one.text, source


def _failure(
    memory: Memory, conversation: Conversation, asked: tuple[str, str], retold: Mapping[str, str]
) -> PlantedFailure:
    """A question with its fact, as others retold it where they did; the cause is yet to be given."""
    question, source = asked
    fact = retold.get(source, "")
    said = _said(conversation, source, fact)
    (block,) = memory.resolve_source(source)[:1]
    return PlantedFailure(
        "not stored", question, question, source, block, said, fact or said, retold=bool(fact)
    )


def _said(conversation: Conversation, source: str, fact: str = "") -> str:
    """The longest sentence of a turn, as it was said; of a fact that was retold, the one with most of its words."""
    text = next(d.content for d in conversation.drafts if d.meta["source"] == source)
    said = re.sub(r"\s*\[[^\]]*\]\s*$", "", text.rpartition("\n(")[0].partition(": ")[2])
    told = wording.stems(fact) if fact else frozenset()
    return max(re.split(r"(?<=[.!?])\s+", said), key=lambda one: (len(told & wording.stems(one)), len(one)))


def _retold(path: Path) -> dict[str, str]:
    """What others wrote that turns say, by source; nothing of it is taken into a memory before it is diagnosed."""
    given: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for name, sessions in given.items():
        if not name.endswith("_observation") or not isinstance(sessions, dict):
            continue
        for told in (pair for pairs in sessions.values() for pair in pairs):
            places = _EVIDENCE.findall(str(told[1]))
            if len(places) == 1:
                found.setdefault(source_of(int(places[0][0]), int(places[0][1])), str(told[0]))
    return found


# --- planting ---------------------------------------------------------------------------------------------


def _plant(
    memory: Memory,
    conversation: Conversation,
    failures: list[PlantedFailure],
    others: Sequence[str],
    chance: random.Random,
) -> None:
    """Do to each turn what keeps it from the answer. others: questions that are asked on the way, and logged."""
    drafts = {_of(draft): draft for draft in conversation.drafts}
    causes = {failure.source: failure.cause for failure in failures}
    gone = [s for s, cause in causes.items() if cause in ("not stored", "not consolidated", "superseded")]
    memory.erasure.erase([i for source in gone for i in memory.resolve_source(source)])
    letters = [drafts[s] for s in gone if causes[s] == "superseded"]
    memory.ingest_many(replace(d, meta={**d.meta, "source": _letter(_of(d))}) for d in letters)
    out_voted = [failure for failure in failures if failure.cause == "out-voted"]
    for failure in out_voted:
        _echo(memory, failure.question, chance)
    memory.consolidate()
    for failure in failures:
        if failure.cause == "superseded":
            _supersede(memory, failure)
    memory.consolidate()
    for question in others:  # an answer that is given moves later ones
        memory.assemble(FRAME, query=question)
    for failure in out_voted:
        _outvote(memory, failure, chance)
    memory.ingest_many(drafts[s] for s in gone if causes[s] == "not consolidated")


def _outvote(memory: Memory, failure: PlantedFailure, chance: random.Random) -> None:
    """Repeat a question until even twice the budget leaves its answer out: else it would be over budget."""
    twice = replace(failure, budget=2 * look(memory, failure.asked).budget)
    for _ in range(_ECHOED):
        if _missed(memory, twice) is not None:
            break
        _echo(memory, failure.question, chance)
        memory.consolidate()


def _echo(memory: Memory, question: str, chance: random.Random) -> None:
    """Take in what repeats a question, from many who could not answer it."""
    for _ in range(_ECHOES):
        where, who = (" ".join(_invented(chance) for _ in range(3)) for _ in range(2))
        memory.add(f"In {where} {who} was asked: {question} Nobody there could tell.")


@contextmanager
def _talk(rig: MemoryRig, conversation: Conversation) -> Iterator[Memory]:
    """The conversation as messages; its speakers take turns as user and assistant."""
    with Memory.open(":memory:", clock=BenchClock(conversation.now), embedder=rig.embedder) as memory:
        memory.conversation.add(TALK, _messages(conversation))
        yield memory


def _messages(conversation: Conversation) -> list[dict[str, Any]]:
    first = str(conversation.drafts[0].meta["speaker"])
    return [
        {
            "role": "user" if d.meta["speaker"] == first else "assistant",
            "content": d.content.rpartition("\n(")[0],
        }
        for d in conversation.drafts
    ]


def _of(draft: RawBlock) -> str:
    return str(draft.meta["source"])


def _letter(source: str) -> str:
    return f"letter {source}".replace("#", " turn ")


def _supersede(memory: Memory, failure: PlantedFailure) -> None:
    """A new version of the turn's source says something else."""
    newer = f"{failure.question} That is no longer known."
    memory.sources.apply(memory.sources.plan_text(_letter(failure.source), newer))


def _asked(
    memory: Memory, talk: Memory, conversation: Conversation, failure: PlantedFailure, chance: random.Random
) -> PlantedFailure | None:
    """The failure as it is asked; None where the fact is given in spite of it."""
    if failure.exchange is not None:
        said = _messages(conversation)
        budget = diagnose_sent.called(talk, said, failure.question, failure.said, failure.exchange)
        return None if budget is None else replace(failure, budget=budget)
    if failure.cause == "collapsed":  # the frame holds it, the working context does not
        return failure if has(look(memory, failure.asked), failure.block, failure.said) else None
    if failure.cause == "left out of the conversation":
        return _squeezed(talk, failure)
    if failure.cause == "over budget":
        if not has(look(memory, failure.asked), failure.block, failure.said):
            return None
        tried = (_missed(memory, replace(failure, budget=budget)) for budget in _BUDGETS)
        return next((made for made in tried if made is not None), None)
    if failure.cause == "out-voted":
        twice = replace(failure, budget=2 * look(memory, failure.asked).budget)
        return None if _missed(memory, twice) is None else failure
    if failure.cause == "not found":
        name = " ".join(_invented(chance) for _ in range(2))
        failure = replace(failure, asked=f"{name}?")
    return _missed(memory, failure)


def _missed(memory: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    """The failure; None where its sentence is given, or any of the turn where others retold it: who retells need not
    keep to one sentence.
    """
    frame = look(memory, failure.asked, failure.budget)
    return None if has(frame, failure.block, "" if failure.retold else failure.said) else failure


def _squeezed(talk: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    """The largest of some budgets at which the conversation engine does not send what was said."""
    for budget in diagnose_sent.BUDGETS:
        try:
            made = talk.conversation.optimise(TALK, failure.question, budget=budget)
        except BudgetError:
            return None
        if not any(failure.said in one.text for one in made.messages):
            return replace(failure, budget=budget)
    return None


def _invented(chance: random.Random) -> str:
    """A word that no language has, like a code name."""
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(3)).capitalize()
