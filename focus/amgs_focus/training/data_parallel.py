"""Workers that train one net together: each reads its own windows, and their gradients are averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import distributed


class DataParallel:
    """One worker's place among `count`, over the process group that it joined; alone, all of it is free.

    What every worker computes from here on is equal bit for bit, so one of them can speak for all.
    """

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank = rank
        self.count = count

    def part(self, number: int, count: int) -> DataParallel:
        """The place of pass `number` of this worker's `count`, among the passes of all workers: to draw by."""
        return self if count == 1 else DataParallel(self.rank * count + number, self.count * count)

    def average(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replaces each tensor by its mean over the workers, in one message."""
        if self.count == 1 or not tensors:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(flat)
        flat /= self.count
        for tensor, mean in zip(tensors, torch.split(flat, [t.numel() for t in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def share(self, owners: Mapping[torch.Tensor, int]) -> None:
        """Every worker gets each tensor as its owner has it."""
        if self.count == 1:
            return
        with torch.no_grad():
            for owner in range(self.count):
                own = [tensor for tensor, rank in owners.items() if rank == owner]
                if not own:
                    continue
                flat = torch.cat([tensor.flatten() for tensor in own])
                distributed.broadcast(flat, owner)
                if owner != self.rank:
                    for tensor, part in zip(own, torch.split(flat, [t.numel() for t in own]), strict=True):
                        tensor.copy_(part.view_as(tensor))

    def any(self, flag: bool) -> bool:
        """Whether the flag is up at one of the workers."""
        if self.count == 1:
            return flag
        raised = torch.tensor(float(flag))
        distributed.all_reduce(raised)
        return bool(raised > 0)

    def gather(self, found: Mapping[str, float]) -> dict[str, float]:
        """What all workers found, by name, in the order of the workers."""
        if self.count == 1:
            return dict(found)
        every: list[dict[str, float]] = [{} for _ in range(self.count)]
        distributed.all_gather_object(every, dict(found))
        return {name: value for one in every for name, value in one.items()}


SINGLE = DataParallel()
