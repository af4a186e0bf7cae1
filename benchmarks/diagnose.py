"""`diagnose`: forty planted failures, the cause that is named for each, and what the proposed fix does.

Controls: the commonest cause for all, a rule that looks only whether a search finds the fact, the first hit of a search
taken to hold it, and the diagnoses dealt out by chance.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np

from amgs.diagnosis import facts
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.types.diagnosis import DecodedContext, Diagnosis, DiagnosisArguments, DiagnosisCause
from benchmarks import diagnose_planting
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.diagnose_planting import PlantedMemory, planted
from benchmarks.diagnose_world import (
    FRAME,
    PLANTED,
    TALK,
    FactsFound,
    FailureWorld,
    PlantedFailure,
    fact_table,
    fact_totals,
    has,
    look,
    world,
)
from benchmarks.locomo_data import read_folder

BENCH = Bench("diagnose", {"cause_right": (">=", 36), "fix_works": (">=", 30)})
_DEALS = 1000
_LOGGED = 6


@dataclass(frozen=True, slots=True)
class JudgedFailure:
    """A planted failure, the cause that was named, and what its fix did. named: "ambiguous" where the block had to be
    asked for. credulous: the cause that is named where the first hit of a search for the fact is taken to hold
    it. search_misses: whether a search for the question has no hit that says the fact. broken: of the other
    questions, whose turn left its frame with the fix. unplanted: the cause that is named for the same fact
    where nothing was done to it; "" where that was not asked.
    """

    failure: PlantedFailure
    named: str = ""
    fix: str = ""
    works: bool = False
    broken: int = 0
    search_misses: bool = False
    unplanted: str = ""
    credulous: str = ""


def run(rig: MemoryRig, data: Path, causes: Sequence[tuple[DiagnosisCause, int]] = PLANTED) -> BenchResult:
    """Plant the failures in the conversations of a folder, as evenly as may be, and judge the diagnoses."""
    conversations = read_folder(data)
    files = [data] if data.is_file() else sorted(data.glob("*.json"))
    judged: list[JudgedFailure] = []
    dropped: list[str] = []
    questions = ambiguous = 0
    found: dict[str, FactsFound] = {}
    for place, (conversation, path) in enumerate(zip(conversations, files, strict=True)):
        rig.progress(place, len(conversations), f"conversation {conversation.name}")
        share = {cause: _part(count, place, len(conversations)) for cause, count in causes}
        with world(rig, conversation, path, share) as whole:
            found[conversation.name] = whole.facts
            questions += len(whole.others)
            ambiguous += whole.ambiguous
            for one in planted(whole, dropped):
                judged.append(_judged(whole, one))
                rig.progress(len(judged), sum(share.values()), f"conversation {conversation.name}")
    right = [one.named == one.failure.cause for one in judged]
    metrics = {
        "failures": float(len(judged)),
        "cause_right": float(sum(right)),
        "fix_works": float(sum(one.works and one.broken <= 1 for one in judged)),
        "fix_works_at_all": float(sum(one.works for one in judged)),
        "broken_most": float(max((one.broken for one in judged), default=0)),
        "not_planted": float(len(dropped)),
        "said_twice": float(ambiguous),
        "unplanted": float(sum(bool(one.unplanted) for one in judged)),
        "unplanted_in_the_context": float(sum(one.unplanted == "in the context" for one in judged)),
        **_controls(judged, rig.seed),
        **fact_totals(found.values()),
    }
    settings = {
        "conversations": [each.name for each in conversations],
        "seed": rig.seed,
        "embedder": rig.embedder.name,
        "other_questions": questions,
        "frame": FRAME,
    }
    return BENCH.result(settings, metrics, (_by_cause(judged), _misses(judged), fact_table(found)))


def _part(count: int, place: int, of: int) -> int:
    """How many of a count fall to a place of several."""
    return count * (place + 1) // of - count * place // of


# --- judging ----------------------------------------------------------------------------------------------


def _judged(whole: FailureWorld, one: PlantedMemory) -> JudgedFailure:
    failure, memory = one.failure, one.memory
    hits = memory.search(failure.asked).hits
    misses = not any(facts.states(hit.block.content, failure.fact) for hit in hits)
    made = JudgedFailure(failure, search_misses=misses, unplanted=_unplanted(memory, failure))
    best = memory.diagnosis.hits(failure.fact)[0].block.id
    made = replace(made, credulous=_cause(memory, failure, block=best))
    try:
        asked = _asked(failure)
        asked["questions"] = _LOGGED
        found = memory.diagnosis.diagnose("", failure.fact, read=_read(memory, failure), **asked)
    except UsageError as error:
        name = error.title.lower()
        return replace(made, named=name)
    made = replace(made, named=found.cause)
    if found.trial is None:
        return made
    works, broken = _tried(whole, memory, failure, found)
    return replace(made, fix=found.trial.fix.kind, works=works, broken=broken)


def _asked(failure: PlantedFailure) -> DiagnosisArguments:
    """The request that missed the fact; no fix is tried."""
    if failure.called:
        return {"question": failure.asked, "exchange": 2, "questions": 0}
    if failure.cause == "left out of the conversation":
        return {"question": failure.asked, "conversation": TALK, "budget": failure.budget, "questions": 0}
    return {"question": failure.asked, "frame": FRAME, "budget": failure.budget, "questions": 0}


def _read(memory: Memory, failure: PlantedFailure, *, gist: bool = True) -> DecodedContext | None:
    if failure.cause != "collapsed":
        return None
    return diagnose_planting.read(memory, failure.block, failure.said, gist=gist)


def _cause(memory: Memory, failure: PlantedFailure, *, block: str) -> str:
    """The cause that is named where this block is taken to hold the fact."""
    asked = _asked(failure)
    asked["block"] = block
    return memory.diagnosis.diagnose("", failure.fact, read=_read(memory, failure), **asked).cause


def _unplanted(memory: Memory, failure: PlantedFailure) -> str:
    """The cause that is named where the call sent the fact, or the working context held it as tokens."""
    if not failure.called and failure.cause != "collapsed":
        return ""
    asked = _asked(failure)
    if failure.called:
        asked["exchange"] = 1
    try:
        tokens = _read(memory, failure, gist=False)
        return memory.diagnosis.diagnose("", failure.fact, read=tokens, **asked).cause
    except UsageError as error:
        return error.title.lower()


def _tried(whole: FailureWorld, memory: Memory, failure: PlantedFailure, found: Diagnosis) -> tuple[bool, int]:
    """Whether the fact is given with the fix, carried out in the memory itself, and how many others lose theirs; the
    fix is undone after it.
    """
    assert found.trial is not None
    fix = found.trial.fix
    if fix.kind == "expand":  # its tokens are pinned: what was collapsed is open, if it is the block that says it
        return fix.block == failure.block, 0
    if not fix.applies:
        frame = look(memory, failure.asked, fix.budget)
        return has(frame, failure.block, failure.said), 0
    in_talk = failure.cause == "left out of the conversation"
    before = frozenset() if in_talk else _kept(whole, memory)
    done = memory.diagnosis.apply(fix)
    try:
        if in_talk:
            name = TALK if not failure.called else found.request.conversation
            made = memory.conversation.optimise(name, failure.asked, budget=failure.budget)
            return any(failure.said in one.text for one in made.messages), 0
        text = look(memory, failure.asked, failure.budget)
        given = has(text, failure.block, failure.said) or failure.fact in text.text
        return given, len(before - _kept(whole, memory))
    finally:
        for entry in done.operations:
            memory.undo(entry.id)
        if done.before is not None:
            memory.define_frame(done.before)


def _kept(whole: FailureWorld, memory: Memory) -> frozenset[str]:
    """The other questions whose turn is in their frame."""
    return frozenset(question for question, block, said in whole.others if has(look(memory, question), block, said))


# --- controls and tables ----------------------------------------------------------------------------------


def _controls(judged: Sequence[JudgedFailure], seed: int) -> dict[str, float]:
    causes = [one.failure.cause for one in judged]
    named = [one.named for one in judged]
    rule = ["not stored" if one.search_misses else "over budget" for one in judged]
    chance = random.Random(seed)
    dealt = [sum(a == b for a, b in zip(causes, chance.sample(named, len(named)), strict=True)) for _ in range(_DEALS)]
    return {
        "cause_right_majority": float(max(Counter(causes).values(), default=0)),
        "cause_right_search_rule": float(sum(a == b for a, b in zip(causes, rule, strict=True))),
        "cause_right_credulous": float(sum(one.credulous == one.failure.cause for one in judged)),
        "cause_right_shuffled": float(np.mean(dealt)) if dealt else 0.0,
        "cause_right_exact_words": float(sum(o.named == o.failure.cause for o in judged if not o.failure.retold)),
        "cause_right_retold": float(sum(o.named == o.failure.cause for o in judged if o.failure.retold)),
        "retold": float(sum(o.failure.retold for o in judged)),
        **{
            f"cause_right_{cause.replace(' ', '_')}": float(
                sum(o.named == cause for o in judged if o.failure.cause == cause)
            )
            for cause in sorted(set(causes))
        },
    }


def _by_cause(judged: Sequence[JudgedFailure]) -> BenchTable:
    rows: list[tuple[str | float, ...]] = []
    for cause in get_args(DiagnosisCause):
        own = [one for one in judged if one.failure.cause == cause]
        if own:
            named = Counter(one.named for one in own).most_common()
            told = ", ".join(f"{name} {count}" for name, count in named)
            works = sum(one.works and one.broken <= 1 for one in own)
            fixes = ", ".join(f"{name or 'none'} {count}" for name, count in Counter(o.fix for o in own).most_common())
            right = sum(o.named == cause for o in own)
            rows.append((cause, f"{len(own)}", f"{right}", told, fixes, f"{works}"))
    columns = ("planted", "failures", "right", "named", "fixes", "works and breaks ≤ 1")
    return BenchTable("By cause", columns, tuple(rows))


def _misses(judged: Sequence[JudgedFailure]) -> BenchTable:
    rows = tuple(
        (
            one.failure.cause,
            one.named,
            one.failure.asked,
            one.failure.fact[:80],
            "works" if one.works else "does not work",
            f"{one.broken}",
        )
        for one in judged
        if one.named != one.failure.cause or not one.works or one.broken > 1
    )
    columns = ("planted", "named", "asked", "the fact", "its fix", "others broken")
    return BenchTable("Misses", columns, rows)
