"""The loop on the real model: the span that answers a question is opened, and the caches agree."""

from __future__ import annotations

import pytest
import torch

from amgs_focus.errors import ModelMissingError
from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.baseline import TailSimilarity
from amgs_focus.model.loading import load
from amgs_focus.model.pretrained import PretrainedModel
from amgs_focus.records import Segment
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.read_history import ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import coarsest
from tests.focus.focus_world import StillClock

FACT = "The spare key to the radio cupboard hangs behind the framed map of Greenland. "
FILLER = (
    "It rained in the valley until noon and the bread was late. ",
    "The goats had been at the fence again, so somebody mended it before supper. ",
    "Soup was leek, the stove smoked, and the accordion stayed in its case. ",
    "A parcel of lamp wicks came up on the cable car, two of them bent. ",
)


@pytest.mark.real
def test_the_block_that_answers_the_question_is_opened() -> None:
    try:
        model = load("smollm2")
    except ModelMissingError as error:
        pytest.skip(str(error))
    settings = FocusSettings(window=192, cadence=4, tail_blocks=1)
    runtime = FocusRuntime(model, PointerEncoder(), TailSimilarity(), settings, clock=StillClock())
    filler = [Segment(FILLER[number % 4], source=f"day-{number}") for number in range(36)]
    runtime.ingest([*filler[:10], Segment(FACT, source="key"), *filler[10:]])
    first = runtime.tree.tokens(0, runtime.tree.length)
    place = next(span for span in runtime.tree.spans() if span.source == "key")
    closed = runtime.context.covering((place.start + place.end) // 2)
    assert closed is not None
    assert runtime.context.entries()[closed].level > 0
    runtime.question("Where does the spare key to the radio cupboard hang?")
    records = runtime.decode(6)
    assert records[0].refocus is not None
    opened = [one for one in records[0].refocus.applied if one.kind == "expand"]
    assert any(one.level == 1 and one.start < place.end and place.start < one.end for one in opened)
    reads = runtime.state.reads.after(runtime.context, runtime.tree.generation, 1)
    reading = runtime.reader.read(reads, runtime.tree)
    rows = runtime.context.embeddings(runtime.tree, 0, runtime.context.used)
    with torch.no_grad():
        whole = model.logits(model.forward(rows[None])[0, -1:])[0]
    likely = whole.topk(5).indices
    assert torch.allclose(reading.logits[likely], whole[likely], atol=0.5)
    assert int(reading.logits.argmax()) in likely.tolist()
    tokens = [record.token for record in records]
    runtime.back(6)
    assert (runtime.tree.tokens(0, len(first)) == first).all()
    assert [record.token for record in runtime.decode(6)] == tokens


@pytest.mark.real
def test_kept_keys_are_turned_to_where_they_stand_now() -> None:
    """In the first layer keys and values depend on their row and their place alone, so there nothing is stale."""
    try:
        model = load("smollm2", precision="fp32")
    except ModelMissingError as error:
        pytest.skip(str(error))
    assert model.rotates
    tree = LifetimeTree(model, PointerEncoder())
    *tokens, last = model.encode("".join(FILLER[number % 4] for number in range(12)))
    tree.append(tokens)
    context = coarsest(tree, 192, 1)
    before = ReadHistory((context,))
    tree.append([last])
    changed, _ = context.extended(tree.length).expand(len(context.entries()) // 2 - 1)
    reader, plain = PrefixReader(model, StillClock()), PrefixReader(model, StillClock())
    reader.read(before, tree)
    assert reader.read(before.after(changed, 0, 8), tree).dirty == tree.block_size + 1
    plain.read(ReadHistory((changed,)), tree)
    assert isinstance(model, PretrainedModel)
    kept, anew = (model.layers_of(one._cache)[0] for one in (reader, plain))
    for found, expected in zip(kept, anew, strict=True):
        assert torch.allclose(found, expected, atol=1e-3)
