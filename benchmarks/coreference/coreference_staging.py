"""Reads the annotated texts once with the frozen encoder; what was read before is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from amgs.conversation.coreference.parser import GrammarParser
from benchmarks.conversation.coreference_data import GapExample, read_gap
from benchmarks.coreference.coreference_examples import Example, of_gap, of_text, save
from benchmarks.coreference.coreference_texts import AnnotatedText, read_gum, read_litbank
from benchmarks.coreference.token_states import TokenStates

CHARACTERS, WORDS = 4000, 700
"""So much is read of a work of LitBank and of a document of GUM."""
_AT_ONCE = 200  # examples of GAP in a file


def stage(
    data: Path, cache: Path, parser: GrammarParser, states: TokenStates, told: Callable[[str], None]
) -> None:
    """Fills a folder with examples: GAP's development half, LitBank, GUM and GAP's validation half.

    data: the folder of `gap-*.tsv`, `litbank` and `gum`.
    """
    cache.mkdir(parents=True, exist_ok=True)
    for name, make in _jobs(data, parser, states):
        path = cache / f"{name}.npz"
        if not path.exists():
            examples = list(make())
            if examples:
                save(path, examples)
            told(f"{name}: {len(examples)} examples")


def _jobs(
    data: Path, parser: GrammarParser, states: TokenStates
) -> Iterator[tuple[str, Callable[[], Iterator[Example]]]]:
    def gap(part: Sequence[GapExample]) -> Callable[[], Iterator[Example]]:
        return lambda: of_gap(part, parser, states)

    def text(one: AnnotatedText) -> Callable[[], Iterator[Example]]:
        return lambda: of_text(one, parser, states)

    halves: dict[str, list[tuple[str, Callable[[], Iterator[Example]]]]] = {}
    for half in ("development", "validation"):
        examples = read_gap(data / f"gap-{half}.tsv")
        halves[half] = [
            (f"gap-{half}-{start:04d}", gap(examples[start : start + _AT_ONCE]))
            for start in range(0, len(examples), _AT_ONCE)
        ]
    works = [(f"litbank-{t.name}", text(t)) for t in read_litbank(data / "litbank", CHARACTERS)]
    documents = [(f"gum-{t.name}", text(t)) for t in read_gum(data / "gum", WORDS)]
    yield from halves["validation"]
    groups = [halves["development"], works, documents]
    # In turn from each, so that what is there after any time is of every kind.
    shares = [(place / len(group), job) for group in groups for place, job in enumerate(group)]
    yield from (job for _, job in sorted(shares, key=lambda share: share[0]))
