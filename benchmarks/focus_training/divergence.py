"""KL to a teacher and NLL of the truth from one pass over the logits, with the gradient written out."""

from __future__ import annotations

from typing import Any

import torch


class Divergence(torch.autograd.Function):
    """KL(teacher ‖ student) and NLL of each row, a few rows at a time to stay in cache."""

    ROWS = 32

    @staticmethod
    def forward(
        ctx: Any, student: torch.Tensor, teacher: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(N, V), (N, V) logits, (N,) ids -> (N,), (N,). The teacher's logits become its probabilities."""
        total = torch.empty_like(student[:, 0])
        kl = torch.empty_like(total)
        for start in range(0, len(student), Divergence.ROWS):
            part = slice(start, start + Divergence.ROWS)
            mine, lesson = student[part], teacher[part]
            total[part] = mine.logsumexp(dim=-1)
            lesson -= lesson.logsumexp(dim=-1, keepdim=True)
            difference = lesson - mine
            kl[part] = torch.linalg.vecdot(lesson.exp_(), difference) + total[part]
        nll = total - student.gather(1, targets[:, None])[:, 0]
        ctx.save_for_backward(student, teacher, total, targets)
        return kl, nll

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Gradients of the two outputs -> that of the student's logits."""
        student, probability, total, targets = ctx.saved_tensors
        kl, nll = gradients
        gradient = torch.empty_like(student)
        for start in range(0, len(student), Divergence.ROWS):
            part = slice(start, start + Divergence.ROWS)
            out = torch.sub(student[part], total[part, None], out=gradient[part])
            out.exp_().mul_((kl[part] + nll[part])[:, None])
            out.addcmul_(probability[part], kl[part, None], value=-1)
        gradient.scatter_add_(1, targets[:, None], -nll[:, None])
        return gradient, None, None
