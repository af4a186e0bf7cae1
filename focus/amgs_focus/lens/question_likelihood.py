"""How likely the frozen model finds a question after a passage: the query likelihood of retrieval, read by the model
that will answer.

Ponte and Croft, "A language modeling approach to information retrieval" (SIGIR 1998).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.model.base_model import BaseModel

BATCH = 16  # passages read at a time, neighbours in length together
ASK = "Write a question that this text answers:\n"


def question_likelihoods(model: BaseModel, passages: Sequence[str], question: str) -> NDArray[np.float64]:
    """(passages,) log p(question | passage) in nats, summed over the question's tokens."""
    asked = model.encode(question)
    read = [[*model.encode(model.turn(f"{ASK}{passage}")), *asked] for passage in passages]
    found = np.zeros(len(read))
    order = np.argsort([len(ids) for ids in read], kind="stable")
    for first in range(0, len(order), BATCH):
        places = order[first : first + BATCH].tolist()
        found[places] = _batch(model, [read[at] for at in places], len(asked))
    return found


def _batch(model: BaseModel, rows: Sequence[Sequence[int]], asked: int) -> list[float]:
    """Of each row the log-likelihood of its last tokens, so many of them."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor(
        [[*row, *[0] * (longest - len(row))] for row in rows]
    )  # a causal model sees nothing of what fills
    with torch.no_grad():
        hidden = model.forward(model.embed(ids))
        told = [hidden[at, len(row) - asked - 1 : len(row) - 1] for at, row in enumerate(rows)]
        logits = model.logits(torch.cat(told))
        targets = torch.tensor([token for row in rows for token in row[-asked:]], device=logits.device)
        each = torch.log_softmax(logits, dim=-1).gather(1, targets[:, None])
        summed: list[float] = each.view(len(rows), asked).double().sum(dim=1).tolist()
    return summed
