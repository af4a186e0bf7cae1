"""One pass through everything on a CUDA device: load, gists, open, refocus, two tokens, one training step."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from amgs_focus.gist import GistNetEncoder, load_checkpoint
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.model import loading
from amgs_focus.records import Segment
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from benchmarks.focus_training.gist_run import train_gistnet
from benchmarks.focus_training.run_config import read_config
from tests.benchmarks.training_world import CONFIG, LAMPS, write_run
from tests.focus.focus_world import StillClock
from tests.focus.model_world import write_model

DEVICE = "cuda"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_model_is_trained_for_opened_and_decoded_on_the_device(tmp_path: Path) -> None:
    llama = write_model(tmp_path / "llama", positions=4096)
    told = CONFIG.replace('base = "tiny"', f'base = "{llama}"\ndevice = "{DEVICE}"')
    told = told.replace("steps = 6", "steps = 1").replace("steps = 2", "steps = 1")
    assert DEVICE in told
    done = train_gistnet(read_config(write_run(tmp_path, told)), clock=StillClock())
    assert done.complete

    model = loading.load(str(llama), precision="bf16", device=DEVICE)
    assert model.embed(torch.tensor([1])).device.type == DEVICE
    gist = load_checkpoint(Path(done.checkpoint), model)
    assert isinstance(gist, GistNetEncoder)
    scorer = LensNetScorer(LensNet(LensShape(model.card.width)), name="fresh", version=1)
    runtime = FocusRuntime(model, gist, scorer, FocusSettings(window=256), clock=StillClock())
    runtime.ingest([Segment(LAMPS)])
    assert runtime.tree.depth >= 1 and torch.isfinite(runtime.tree.gists(1, 0, 4)).all()
    runtime.question("how long do the lamps burn?")
    runtime.refocus()
    assert len(runtime.decode(2)) >= 1
    rows = runtime.context.embeddings(runtime.tree, 0, runtime.context.used)
    assert torch.isfinite(model.logits(model.forward(rows[None])[0, -1:])).all()
