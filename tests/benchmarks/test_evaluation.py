"""What the focus benches measure with: windows drawn from documents, intervals by document."""

from __future__ import annotations

import numpy as np
import torch

from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_evaluation.needles import choose, facts

torch.set_num_threads(1)


def test_the_choice_is_the_option_that_a_plain_pass_finds_likeliest() -> None:
    model = TinyModel()
    needle = facts(1, 3)[0]
    prefix = model.embed(torch.tensor(model.encode("somebody keeps something somewhere")))
    losses = []
    for option in needle.options:
        stem, answer = model.encode(needle.stem.rstrip()), model.encode(f" {option}")
        rows = torch.cat([prefix, model.embed(torch.tensor([*stem, *answer]))])
        logs = torch.log_softmax(model.logits(model.forward(rows[None])[0]).double(), dim=-1)
        places = range(len(rows) - len(answer) - 1, len(rows) - 1)
        losses.append(-sum(float(logs[place, token]) for place, token in zip(places, answer, strict=True)))
    assert choose(model, prefix, needle) == int(np.argmin(losses))
