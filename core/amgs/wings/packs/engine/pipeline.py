"""From packs to one text for a question, through the layers that are switched on, with a record of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from amgs.text.plural import plural
from amgs.types import Block
from amgs.wings.packs.engine.agents import agree_on_packs
from amgs.wings.packs.engine.attention import prune_by_attention
from amgs.wings.packs.engine.continuum import evolve_worth
from amgs.wings.packs.engine.focus import compress_to_focus
from amgs.wings.packs.engine.graphs import retrieve_by_graphs
from amgs.wings.packs.engine.operations import operate_on_packs
from amgs.wings.packs.engine.sentences import WrittenText, sentences_of, write_text
from amgs.wings.packs.engine.task import PackTask
from amgs.wings.packs.engine.weights import weigh_packs
from amgs.wings.packs.values import PackLayer, PackRole, PackStage

OF_WORTH: Mapping[PackLayer, Callable[[PackTask], str]] = {
    "graphs": retrieve_by_graphs,
    "continuum": evolve_worth,
    "weights": weigh_packs,
}
"""Layers that change the worth of packs, in the order in which they run."""
OF_SENTENCES: Mapping[PackLayer, Callable[[PackTask], str]] = {
    "attention": prune_by_attention,
    "focus": compress_to_focus,
}
"""Layers that leave out sentences."""


def run_pipeline(
    task: PackTask, layers: Collection[PackLayer], title: str
) -> tuple[WrittenText, tuple[PackStage, ...]]:
    """Write a text of at most the task's budget through the layers; without layers, packs are chosen by the search's
    evidence.
    """
    stages: list[PackStage] = []

    def step(name: str, unit: Literal["packs", "sentences"], run: Callable[[PackTask], str]) -> None:
        before, did = _measure(task, unit), run(task)
        after = _measure(task, unit)
        stages.append(PackStage(name, did, unit, before[0], after[0], before[1], after[1]))

    task.chosen = list(task.members)
    for layer, run in OF_WORTH.items():
        if layer in layers:
            step(layer, "packs", run)
    step("agents" if "agents" in layers else "packs", "packs", agree_on_packs if "agents" in layers else _choose)
    if "operations" in layers:
        step("operations", "packs", operate_on_packs)
    members = _join(task)
    task.sentences = sentences_of(members)
    split = _measure(task, "sentences")
    did = f"{plural(len(members), 'member')} of {plural(len(task.chosen), 'pack')}, each read once"
    stages.append(PackStage("members", did, "sentences", split[0], split[0], _measure(task, "packs")[1], split[1]))
    for layer, run in OF_SENTENCES.items():
        if layer in layers:
            step(layer, "sentences", run)
    before = _measure(task, "sentences")
    written = write_text(task, title, members)
    did = f"the sentences that answer, within {task.budget:,} tokens, of {len(written.blocks)} members, each cited"
    stages.append(PackStage("text", did, "sentences", before[0], written.sentences, before[1], written.tokens))
    return written, tuple(stages)


def _measure(task: PackTask, unit: str) -> tuple[int, int]:
    """Return the number of packs or sentences, and their tokens."""
    if unit == "packs":
        return len(task.chosen), sum(map(task.tokens, task.chosen))
    return len(task.sentences), sum(task.count_tokens(sentence.text) for sentence in task.sentences)


def _choose(task: PackTask) -> str:
    """Choose packs greedily by what they add per token until none fits; a member in several counts once."""
    task.chosen, covered, used = [], set[str](), 0
    left = task.ranked()
    while True:
        gains = {name: _gain(task, name, covered) for name in left}
        fitting = [name for name in left if used + task.cost(name) <= task.reach and gains[name] > 0]
        if not fitting:
            break
        best = max(fitting, key=lambda name: (gains[name] / max(task.cost(name), 1), name))
        task.because[best] = f"adds {gains[best]:.2f}"
        task.chosen.append(best)
        left.remove(best)
        used += task.cost(best)
        covered |= {block.id for _, block in task.members[best]}
    for name in task.members:
        if name not in task.chosen:
            gain = gains.get(name, 0.0)
            task.because.setdefault(name, f"no room: would add {gain:.2f}" if gain >= 0.005 else "adds nothing")
    packs = plural(len(task.members), "pack")
    return f"{len(task.chosen)} of {packs} chosen for what answers, within {task.reach:,} tokens"


def _gain(task: PackTask, name: str, covered: Collection[str]) -> float:
    """Return the worth of a pack, less the share that members of chosen packs cover."""
    own = {block.id: task.likely.get(block.id, 0.0) for _, block in task.members[name]}
    every = sum(own.values())
    fresh = sum(likely for block, likely in own.items() if block not in covered)
    return task.worth[name] * (fresh / every if every else float(not own.keys() <= set(covered)))


def _join(task: PackTask) -> list[tuple[PackRole, Block]]:
    """Return the members of the chosen packs, each once."""
    members: dict[str, tuple[PackRole, Block]] = {}
    for name in task.chosen:
        for role, block in task.members[name]:
            members.setdefault(block.id, (role, block))
    return list(members.values())
