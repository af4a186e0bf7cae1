"""What high-fidelity protects beyond the question, and what evidence that costs, in a seventh of a conversation.

Of the first conversations of LoCoMo and REALTALK, resolved, every sixteenth question. Beside the evidence: the messages
that say who or what a name is, those that are open or decided, and those with a date, as `find_important` finds them.
The control is the default configuration, which protects none of them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from amgs.conversation.material import MessageCounter
from amgs.conversation.protection import find_important
from amgs.types.conversation import ContextConfiguration
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.conversation import evidence_data
from benchmarks.conversation.evidence import SHARE

CONVERSATIONS, EVERY = 3, 16
CONFIGURATIONS: tuple[ContextConfiguration, ...] = ("default", "high-fidelity")
KINDS = ("evidence", "definition", "open", "date")


def measure_protection(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Measure the corpora that a folder has; None where it has none."""
    shares: dict[tuple[str, ContextConfiguration], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for corpus in ("locomo", "realtalk"):
        conversations = evidence_data.read(data, corpus)[:CONVERSATIONS]
        for place, conversation in enumerate(conversations):
            rig.progress(place, len(conversations), f"{corpus} {conversation.name}")
            with evidence_data.opened_conversation(conversation, rig) as memory:
                memory.conversation.resolve(conversation.name)
                messages = memory.conversation.show(conversation.name)
                counter = MessageCounter.of(memory._opened.count_tokens)
                budget = sum(map(counter.cost, messages)) // SHARE
                important: dict[str, list[int]] = defaultdict(list)
                for index, protected in find_important(messages).items():
                    important[protected.share].append(index)
                for question in conversation.questions[::EVERY]:
                    wanted = {**important, "evidence": [number - 1 for number in question.evidence]}
                    for name in CONFIGURATIONS:
                        context = memory.conversation.optimise(
                            conversation.name, question.text, budget=budget, configuration=name
                        )
                        whole = np.zeros(len(messages), dtype=np.bool_)
                        for span in context.spans:
                            whole[span.first - 1 : span.last] = span.fate == "kept"
                        for kind, places in wanted.items():
                            shares[corpus, name][kind].append(100.0 * float(whole[places].mean()))
    if not shares:
        return None
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (corpus, name, len(found["evidence"]), *(float(np.mean(found[kind])) for kind in KINDS))
        for (corpus, name), found in shares.items()
    )
    metrics = {
        f"protection_{corpus}_{name}_{kind}".replace("-", "_"): float(np.mean(found[kind]))
        for (corpus, name), found in shares.items()
        for kind in KINDS
    }
    columns = ("corpus", "configuration", "questions", *KINDS)
    return SubjectResult(metrics, {}, (BenchTable(f"Kept whole in 1/{SHARE} of the tokens, percent", columns, rows),))
