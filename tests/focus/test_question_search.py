"""A question in other words: the vectors of blocks, the search over them, and what is opened for what was found."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from amgs_focus.errors import TraceError
from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.question_search import ASK, QuestionSearch, SimilarWords, question_likelihoods
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model.tiny import TinyModel
from amgs_focus.options import SearchOptions
from amgs_focus.records import NodeRef, Segment
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.trace import TraceWriter, read
from amgs_focus.tree.files import VECTORS
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.retention import act_of
from tests.focus.focus_world import MODEL, StillClock

SETTINGS = FocusSettings(block_size=16, window=160, cadence=8)
FACT = "The hound sleeps in the crimson hut."
QUESTION = "dog bed colour?"
ALIKE = (("hound", "dog"), ("sleeps", "bed"), ("crimson", "colour"))


class Meanings:
    """Words of one meaning share an axis, all others have one of 61 by their letters. texts: how many it has read."""

    dimension = 64

    def __init__(self, name: str = "meanings") -> None:
        self.name = name
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        made = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[a-z]+", text.lower()):
                known = [axis for axis, group in enumerate(ALIKE) if word in group]
                made[row, known[0] if known else 3 + zlib.crc32(word.encode()) % 61] += 1
        unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit


def filler(words: int, seed: int) -> str:
    """Sentences of made-up words that share nothing with the fact or its question."""
    rng = np.random.Generator(np.random.PCG64(seed))
    made = ["".join(chr(int(c)) for c in rng.integers(97, 123, 5)) for _ in range(words)]
    return "".join(f" {word}{'.' if at % 5 == 4 else ''}" for at, word in enumerate(made))


def world(
    search: QuestionSearch | None, trace: TraceWriter | None = None, settings: FocusSettings = SETTINGS
) -> FocusRuntime:
    return FocusRuntime(MODEL, PointerEncoder(), TailSimilarity(), settings, trace, clock=StillClock(), search=search)


def told(
    search: QuestionSearch | None, trace: TraceWriter | None = None, settings: FocusSettings = SETTINGS
) -> FocusRuntime:
    """A lifetime of some hundred blocks with one fact early in it."""
    runtime = world(search, trace, settings)
    runtime.ingest([Segment(f"{filler(60, 1)} {FACT} {filler(300, 2)}")])
    return runtime


def span(tree: LifetimeTree) -> tuple[int, int]:
    """Tokens of the fact: the tiny model's are bytes."""
    start = tree.text(0, tree.length).index(FACT)
    return start, start + len(FACT)


def in_sight(runtime: FocusRuntime) -> bool:
    start, end = span(runtime.tree)
    entries = runtime.context.entries()
    places = {runtime.context.covering(token) for token in range(start, end)}
    return all(place is not None and entries[place].level == 0 for place in places)


def test_a_question_in_other_words_opens_the_whole_statement_and_words_alone_do_not() -> None:
    for search, expected in ((QuestionSearch(Meanings()), True), (None, False)):
        runtime = told(search)
        assert not in_sight(runtime)
        runtime.question(QUESTION)
        runtime.refocus()
        assert in_sight(runtime) is expected
        runtime.context.check()


def test_vectors_lie_beside_the_lifetime_and_are_made_anew_where_they_are_missing(tmp_path: Path) -> None:
    def opened() -> LifetimeTree:
        return LifetimeTree.open(tmp_path / "life", MODEL, PointerEncoder(), block_size=16)

    tree = opened()
    tree.append(MODEL.encode(filler(80, 3)))
    QuestionSearch(Meanings()).sync(tree)
    asked = Meanings().embed([filler(4, 3)])[0]
    before = tree.vectors.cosines(asked, tree.count(0))
    tree.close()

    tree = opened()
    encoder = Meanings()
    QuestionSearch(encoder).sync(tree)
    assert encoder.texts == 0
    assert np.array_equal(tree.vectors.cosines(asked, tree.count(0)), before)
    tree.truncate(100)  # a session that searches nothing still keeps rows and tokens together
    tree.append(MODEL.encode(filler(80, 4)))
    QuestionSearch(encoder).sync(tree)
    assert encoder.texts == tree.count(0) - 100 // 16
    tree.close()

    for spoil in (Path.unlink, lambda path: path.write_bytes(b"MCCT nonsense")):
        spoil(tmp_path / "life" / VECTORS)
        tree = opened()
        encoder = Meanings()
        QuestionSearch(encoder).sync(tree)
        assert encoder.texts == tree.count(0)
        tree.close()


def test_what_was_forgotten_is_not_found_and_what_was_purged_has_no_vector() -> None:
    runtime = told(QuestionSearch(Meanings()))
    tree = runtime.tree
    start, end = span(tree)
    blocks = range(start // 16, -(-end // 16))
    runtime.act(act_of(tree, "forget", NodeSet.of(NodeRef(1, block) for block in blocks)))
    runtime.question(QUESTION)
    assert runtime.state.findings is not None
    assert not {one.block for one in runtime.state.findings.blocks} & set(blocks)
    runtime.act(act_of(tree, "purge", NodeSet.of(NodeRef(1, block) for block in blocks)))
    asked = Meanings().embed([QUESTION])[0]
    assert not tree.vectors.cosines(asked, blocks[-1] + 1)[list(blocks)].any()
    QuestionSearch(Meanings("another")).sync(tree)
    assert not tree.vectors.cosines(asked, blocks[-1] + 1)[list(blocks)].any()


@pytest.mark.parametrize("chosen", [SETTINGS, SETTINGS.model_copy(update={"window": 256, "cooldown": 0})])
def test_stepping_back_over_a_question_takes_back_what_it_found_and_a_replay_finds_the_same(
    tmp_path: Path, chosen: FocusSettings
) -> None:
    path = tmp_path / "run.jsonl"
    writer = TraceWriter(path, header_of(world(QuestionSearch(Meanings()), settings=chosen)))
    runtime = told(QuestionSearch(Meanings()), writer, chosen)
    runtime.decode(2)
    before = runtime.state_hash()
    runtime.decode(1)
    runtime.question(QUESTION)
    runtime.decode(2)
    after, found = runtime.state_hash(), runtime.state.findings
    runtime.back(3)
    assert runtime.state_hash() == before and runtime.state.findings is None
    runtime.decode(1)
    runtime.question(QUESTION)
    runtime.decode(2)
    assert (runtime.state_hash(), runtime.state.findings) == (after, found)
    writer.close()
    assert replay(read(path), world(QuestionSearch(Meanings()), settings=chosen)) == 8
    for other in (None, QuestionSearch(Meanings("another"))):
        with pytest.raises(TraceError, match="text_encoder"):
            replay(read(path), world(other, settings=chosen))


def test_a_trace_is_replayed_with_its_own_options_only(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    mine = SearchOptions(found=2, likelihood=0.0)
    writer = TraceWriter(path, header_of(world(QuestionSearch(Meanings(), mine))))
    runtime = told(QuestionSearch(Meanings(), mine), writer)
    runtime.question(QUESTION)
    runtime.decode(1)
    writer.close()
    options = SearchOptions.of(read(path).header.search)
    assert options == mine
    assert replay(read(path), world(QuestionSearch(Meanings(), options))) == 1
    with pytest.raises(TraceError, match="search"):
        replay(read(path), world(QuestionSearch(Meanings())))
    header = read(path).header
    with pytest.raises(TraceError, match="options"):
        other = replace(header, options={**header.options, "across": 0.5})
        replay(replace(read(path), header=other), world(QuestionSearch(Meanings(), options)))
    with pytest.raises(TraceError, match="telepathy"):
        SearchOptions.of({"telepathy": 1.0})


def test_a_question_opens_few_blocks_to_the_ends_of_their_sentences_and_little_of_the_latest() -> None:
    runtime = told(QuestionSearch(Meanings()))
    start, end = span(runtime.tree)
    runtime.question(QUESTION)
    runtime.refocus()
    context, findings = runtime.context, runtime.state.findings
    raw = [entry.index for entry in context.entries() if not entry.level and entry.end <= context.tail_start]
    assert findings is not None and set(raw) <= {hit.block for hit in findings.blocks}
    assert set(range(start // 16, -(-end // 16))) <= set(raw)
    runtime.decode(5)
    runtime.question("and the cat?")  # the turn before stays as far as it takes a quarter of the window
    latest = [entry for entry in runtime.context.entries() if not entry.level]
    assert latest[0].start <= max(runtime.tree.length - 5 - len(QUESTION), runtime.tree.length - 40) + 16


def test_what_was_opened_once_opens_again_without_reading_it() -> None:
    encoder = Meanings()
    first = told(QuestionSearch(encoder))
    first.question(QUESTION)
    read_before = encoder.texts
    again = told(QuestionSearch(encoder))
    again.question(QUESTION)
    assert encoder.texts == read_before and again.state.findings == first.state.findings
    other = told(QuestionSearch(encoder))
    other.question("another dog?")
    assert encoder.texts > read_before


def test_a_heading_over_named_text_and_an_earlier_question_are_not_found() -> None:
    runtime = world(QuestionSearch(Meanings()))
    heading = Segment(f"# SESSION: {QUESTION}\n\n")
    runtime.ingest([heading, Segment(f"{filler(60, 1)} {FACT} {filler(200, 2)}", source="notes")])
    runtime.question(QUESTION)
    start, _ = span(runtime.tree)
    assert runtime.state.findings is not None
    assert runtime.state.findings.blocks[0].block in range(start // 16, start // 16 + 3)


class Synonyms(TinyModel):
    """Each token is a word of its own; words 7 and 8 have one embedding."""

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(f" word{token}" for token in tokens)

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().embed(torch.where(tokens == 8, 7, tokens))


def test_a_word_is_found_by_its_synonym_and_what_every_passage_has_counts_nothing() -> None:
    model = Synonyms()
    tree = LifetimeTree(model, PointerEncoder(), block_size=16)
    tokens = np.random.Generator(np.random.PCG64(5)).integers(20, 200, 40 * 16)
    tokens[::8], tokens[100], tokens[335] = 9, 8, 8  # blocks 6 and 20, the second at its edge
    tree.append(tokens.tolist())
    matches = SimilarWords(model).match([[7], [9]], np.ones(2), tree, 40)
    assert set(np.argsort(-matches.blocks)[:3].tolist()) <= {5, 6, 7, 20, 21}
    assert matches.blocks[6] == matches.blocks[20] == matches.blocks[21] == matches.blocks.max() > matches.blocks[30]
    assert matches.span(98, 104) == pytest.approx(matches.blocks[6])
    common = SimilarWords(model).match([[9]], np.ones(1), tree, 40)
    assert not common.blocks.any()


def test_a_question_is_as_likely_after_a_passage_whatever_is_read_beside_it() -> None:
    passages = ["One.", "A passage of more words.", "Two two."]
    together = question_likelihoods(MODEL, passages, QUESTION)
    alone = [question_likelihoods(MODEL, [one], QUESTION)[0] for one in passages]
    assert together == pytest.approx(alone, abs=1e-3) and len(set(together.tolist())) == 3
    ids = MODEL.encode(MODEL.turn(f"{ASK}{passages[0]}") + QUESTION)
    asked = MODEL.encode(QUESTION)
    with torch.no_grad():
        logits = MODEL.logits(MODEL.forward(MODEL.embed(torch.tensor([ids])))[0])
    said = torch.log_softmax(logits[-len(asked) - 1 : -1], dim=-1)
    assert float(said[range(len(asked)), asked].sum()) == pytest.approx(alone[0], abs=1e-3)
