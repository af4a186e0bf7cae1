"""Shannon entropy: how evenly something is distributed, compared with the maximum (AMGS §7.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entropy:
    """Entropy in bits, and the maximum for as many classes."""

    bits: float
    most: float

    @property
    def evenness(self) -> float:
        """bits / most (Pielou's evenness), in [0, 1]; 1 for at most one class."""
        return self.bits / self.most if self.most > 0 else 1.0


def bits_of(amounts: Iterable[float]) -> float:
    """Return -Σ p log₂ p in bits of amounts, which need not sum to 1; 0 for at most one."""
    positives = [amount for amount in amounts if amount > 0]
    total = sum(positives)
    return max(0.0, -sum(n / total * math.log2(n / total) for n in positives)) if total else 0.0


def entropy(amounts: Iterable[float]) -> Entropy:
    """Return the entropy of amounts by class; classes with 0 do not count."""
    positives = [amount for amount in amounts if amount > 0]
    return Entropy(bits_of(positives), math.log2(len(positives)) if positives else 0.0)
