"""`written`: whether the rules that check a model's digest let through what the messages say, and nothing else.

Of every stretch of ten messages the sentences themselves, which should stay; and, which should not: the same with a
number changed, with a name put in, and sentences of another conversation.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from amgs.conversation.written import keep_founded_sentences
from amgs.text.prose import sentences
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.conversation.evidence_data import read

BENCH = Bench("written", {"own_locomo": (">=", 0.99), "elsewhere_locomo": ("<=", 0.02)})
_STRETCH: Final = 10
_EVERY: Final = 40
_WORDS: Final = 6
"""A sentence of fewer is passed over."""
_STRANGER: Final = "Wilhelmina"
_NUMBER = re.compile(r"\b\d+\b")


def run(data: Path, seed: int = 0) -> BenchResult:
    """Measure LoCoMo and REALTALK as far as a folder has them."""
    chance = random.Random(seed)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for corpus in ("locomo", "realtalk"):
        told = read(data, corpus)
        for place, one in enumerate(told):
            other = told[(place + 1) % len(told)].messages
            speakers = sorted({str(message["speaker"]).split()[0] for message in one.messages})
            for start in range(0, len(one.messages) - _STRETCH, _EVERY):
                stretch = one.messages[start : start + _STRETCH]
                sources = [f"{message['speaker']}: {message['text']}" for message in stretch]
                beside = chance.sample(other, k=_STRETCH)
                for kind, sentence in (*_made(stretch, speakers), *(("elsewhere", s) for s in _told(beside))):
                    count = counts[corpus, kind]
                    count[0] += bool(keep_founded_sentences(sentence, sources))
                    count[1] += 1
    metrics = {f"{kind}_{corpus}": passed / every for (corpus, kind), (passed, every) in counts.items()}
    rows = tuple((c, k, str(passed), str(every)) for (c, k), (passed, every) in counts.items())
    table = BenchTable("Sentences that stay", ("corpus", "sentences", "stay", "of"), rows)
    return BENCH.result({"stretch": _STRETCH, "every": _EVERY}, metrics, (table,))


def _told(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        text = str(message["text"])
        found = (text[start:end] for start, end in sentences(text))
        yield from (sentence for sentence in found if len(sentence.split()) >= _WORDS)


def _made(messages: Sequence[Mapping[str, Any]], speakers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentences of messages, and what is made of them."""
    for sentence in _told(messages):
        yield "own", sentence
        if _NUMBER.search(sentence):
            yield "number changed", _NUMBER.sub(lambda found: str(int(found[0]) + 3), sentence, count=1)
        named = next((name for name in speakers if re.search(rf"\b{name}\b", sentence)), None)
        if named is not None:
            yield "another name", re.sub(rf"\b{named}\b", _STRANGER, sentence)
