"""Shannon entropy as a figure: how evenly something is spread, beside the most that it could be (AMGS §7.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entropy:
    """Bits of entropy and the bits that as many classes would have if all were equally likely."""

    bits: float
    most: float

    @property
    def evenness(self) -> float:
        """bits / most (Pielou's evenness), in [0, 1]; 1 where there is one class or none."""
        return self.bits / self.most if self.most > 0 else 1.0


def bits_of(amounts: Iterable[float]) -> float:
    """-Σ p log₂ p of amounts that need not sum to 1, in bits; 0 for none or one."""
    positives = [amount for amount in amounts if amount > 0]
    total = sum(positives)
    return max(0.0, -sum(n / total * math.log2(n / total) for n in positives)) if total else 0.0


def entropy(amounts: Iterable[float]) -> Entropy:
    """Return the entropy of how much falls to each class; a class to which nothing falls does not count."""
    positives = [amount for amount in amounts if amount > 0]
    return Entropy(bits_of(positives), math.log2(len(positives)) if positives else 0.0)
