"""What `pack assemble` holds of what answers with each layer on, alone and left out, beside a frame and the likeliest
texts without packs, all of at most 614 tokens as they are written.

A pack is six messages of a session in a row (LoCoMo, REALTALK), or three paragraphs in a row (HotpotQA, MuSiQue), cut
without a look at any question. Recall is the share of the characters of what answers that stand in the text. There are
no outcomes and no sessions: what learns from them can do nothing here but do no harm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from amgs.conversation.messages import number_sessions
from amgs.errors import InputError
from amgs.types import Block, Span
from amgs.wings.packs.choice import Attention
from amgs.wings.packs.pipeline import evidence_of, sentences_of, write_text
from amgs.wings.packs.values import LAYERS, PackLayer, PackRole
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.evidence import evidence
from benchmarks.measures import grouped, interval
from benchmarks.questioned import AskedQuestion, QuestionedMemory, questioned_memories

BENCH = Bench("packs")
BUDGET = 614
NONE, SESSION, LIKELIEST = "no layer (the default)", "SESSION", "the likeliest, without packs"
_IN_A_ROW = {True: 6, False: 3}
_RESAMPLES = 1_000
_CONSIDERED = 80


def variants() -> dict[str, tuple[PackLayer, ...]]:
    """Each row of the table that switches layers, by name."""
    found: dict[str, tuple[PackLayer, ...]] = {NONE: ()}
    found |= {f"{layer} alone": (layer,) for layer in LAYERS}
    found["all layers"] = LAYERS
    return found | {f"all but {layer}": tuple(one for one in LAYERS if one != layer) for layer in LAYERS}


def run(rig: MemoryRig, data: Path, questions: int, attention: Attention | None) -> BenchResult:
    """Measure so many questions of each memory that a folder has; raises InputError where it has none.

    attention: of the language model; without it that layer passes everything.
    """
    recalls: dict[tuple[str, str], list[float]] = defaultdict(list)
    groups: dict[str, list[str]] = defaultdict(list)
    for world in questioned_memories(rig, data):
        keep_packs(world)
        asked = world.asked[:: max(len(world.asked) // questions, 1)][:questions]
        for place, one in enumerate(asked):
            rig.progress(place, len(asked), f"{world.corpus} {one.group}")
            groups[world.corpus].append(one.group)
            for name, recall in _measured(world, one, None if attention is None else _remember(attention)).items():
                recalls[world.corpus, name].append(recall)
    if not groups:
        raise InputError(f"{data} has no questions.", way_out="Give a folder with locomo/, realtalk/ or multihop/.")
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for corpus, of in groups.items():
        for name in (*variants(), LIKELIEST, SESSION):
            own, base = recalls[corpus, name], recalls[corpus, NONE]
            gain = [100.0 * (a - b) for a, b in zip(own, base, strict=True)]
            low, high = interval(grouped(of, gain), draws=_RESAMPLES)
            mean = 100.0 * float(np.mean(own))
            rows.append((corpus, name, len(own), mean, f"[{low:+.1f}, {high:+.1f}]"))
            metrics[f"{corpus} {name}"] = mean
    columns = ("corpus", "text", "questions", "of what answers, percent", "above no layer, 95 %")
    table = BenchTable(f"What answers, in {BUDGET} tokens", columns, tuple(rows))
    return BENCH.result({"questions": questions}, metrics, (table,))


def keep_packs(world: QuestionedMemory) -> None:
    """Keep texts in a row as packs; those of a conversation end with a session."""
    rows: list[list[str]] = [[]]
    if world.conversation is not None:
        stored = world.memory._opened.storage.messages.read_messages(world.conversation.name)
        numbers = number_sessions([each.message for each in stored])
        for place, each in enumerate(stored):
            if len(rows[-1]) >= _IN_A_ROW[True] or (place and numbers[place] != numbers[place - 1]):
                rows.append([])
            rows[-1] += each.blocks[:1]
    else:
        ids = [block.id for block in world.blocks]
        rows = [ids[at : at + _IN_A_ROW[False]] for at in range(0, len(ids), _IN_A_ROW[False])]
    for number, blocks in enumerate(rows):
        if blocks:
            world.memory.packs.keep(f"row {number:05d}", blocks=blocks)


def _remember(attention: Attention) -> Attention:
    """Attention that is asked once for each sentence of a question."""
    known: dict[str, float] = {}

    def ask(question: str, sentences: Sequence[str]) -> Sequence[float]:
        new = [one for one in dict.fromkeys(sentences) if one not in known]
        known.update(zip(new, attention(question, new) if new else (), strict=True))
        return [known[one] for one in sentences]

    return ask


def _measured(world: QuestionedMemory, one: AskedQuestion, attention: Attention | None) -> Mapping[str, float]:
    blocks = {block.id: block for block in world.blocks}
    packs = world.memory.packs
    found = {}
    for name, layers in variants().items():
        made = packs.assemble(one.text, budget=BUDGET, layers=layers, attention=attention, log=False)
        found[name] = evidence(made.text, made.spans, one, blocks)
    frame = world.memory.assemble("SESSION", query=one.text, budget=BUDGET, reinforce=False)
    found[SESSION] = evidence(frame.text, frame.spans, one, blocks)
    text, spans = _likeliest(world, one, blocks)
    found[LIKELIEST] = evidence(text, spans, one, blocks)
    return found


def _likeliest(world: QuestionedMemory, one: AskedQuestion, blocks: Mapping[str, Block]) -> tuple[str, Sequence[Span]]:
    """The likeliest texts of the whole memory, in the form of `pack assemble`, each as likely as the search says."""
    context = world.memory._opened
    numbers = context.storage.blocks.numbers_of(list(blocks))
    with context.derived.searching() as sources:
        scores = evidence_of(one.text, numbers, sources)
        task = world.memory.packs._task(one.text, BUDGET, "", sources)
        best = sorted(scores, key=lambda block: -scores[block])[:_CONSIDERED]
        members: list[tuple[PackRole, Block]] = [("source", blocks[block]) for block in best]
        task.sentences = sentences_of(members)
        task.relevance = lambda _, some: np.array([scores[sentence.block.id] for sentence in some])
        written = write_text(task, "Packs", members)
    return written.text, written.spans
