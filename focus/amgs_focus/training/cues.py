"""Vectors that a gist training learns beside its net, and that no checkpoint carries."""

from __future__ import annotations

import torch
from torch import nn

STYLE = 2
_SCALE = 0.05


class Cues(nn.Module):
    """What students read besides gists, so that these need not say it themselves.

    style: (2, d) entries behind the sinks that can say what kind of text follows, so that a gist gains nothing by it.
    recite: (1, d), the entry after a gist at which its block's own tokens are to follow.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.style = nn.Parameter(torch.randn(STYLE, width) * _SCALE)
        self.recite = nn.Parameter(torch.randn(1, width) * _SCALE)
