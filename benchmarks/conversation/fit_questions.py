"""Fit the words by which a sentence asks without a question mark: a sparse logistic regression, in numpy.

    python -m benchmarks.conversation.fit_questions DIR

DIR/mrda/train_set.txt is read without its marks; writes `question_weights.json` to stdout.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from amgs.conversation.acts import question_features, question_words
from benchmarks.conversation.acts import read_utterances

_FEWEST = 5
_LASSO = 2.0
_STEPS = 150


def fit_questions(sentences: Sequence[str], asks: Sequence[bool]) -> tuple[float, dict[str, float]]:
    """The bias and the weights that are not zero, by accelerated proximal steps, each scaled to its feature."""
    rows = [question_features(question_words(sentence)) for sentence in sentences]
    counts = Counter(feature for row in rows for feature in row)
    names = sorted(feature for feature, count in counts.items() if count >= _FEWEST)
    numbers = {name: number for number, name in enumerate(names)}
    held = [[numbers[feature] for feature in sorted(row) if feature in numbers] for row in rows]
    columns = np.array([number for row in held for number in row], dtype=np.intp)
    sizes = np.array([len(row) for row in held], dtype=np.float64)
    places = np.repeat(np.arange(len(held)), [len(row) for row in held])
    true = np.asarray(asks, dtype=np.float64)
    curve = 0.25 * np.bincount(columns, weights=sizes[places], minlength=len(names)) + 1e-6
    bias_curve = 0.25 * float(sizes.sum())
    weights, ahead = np.zeros(len(names)), np.zeros(len(names))
    bias = bias_ahead = 0.0
    pace = 1.0
    for _ in range(_STEPS):
        scores = np.bincount(places, weights=ahead[columns], minlength=len(held)) + bias_ahead
        error = 1.0 / (1.0 + np.exp(-scores)) - true
        moved = ahead - np.bincount(columns, weights=error[places], minlength=len(names)) / curve
        moved = np.sign(moved) * np.maximum(0.0, np.abs(moved) - _LASSO / curve)
        moved_bias = bias_ahead - float(error.sum()) / bias_curve
        quicker = (1.0 + math.sqrt(1.0 + 4.0 * pace * pace)) / 2.0
        ahead = moved + (pace - 1.0) / quicker * (moved - weights)
        bias_ahead = moved_bias + (pace - 1.0) / quicker * (moved_bias - bias)
        weights, bias, pace = moved, moved_bias, quicker
    return bias, {name: float(w) for name, w in zip(names, weights, strict=True) if abs(w) >= 0.005}


def main(folder: Path) -> None:
    utterances = read_utterances(folder / "mrda" / "train_set.txt")
    bias, weights = fit_questions([u.text for u in utterances], [u.asks for u in utterances])
    rounded = {name: round(weight, 2) for name, weight in weights.items()}
    print(json.dumps({"bias": round(bias, 2), "weights": rounded}, indent=0, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
