"""Fit what tells the intent of a question to LoCoMo's questions.

    python -m benchmarks.packs.fit_intents DIR

DIR/locomo holds the conversations; writes `intent_weights.json` to stdout: the weights of the signs of a question.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from amgs.wings.packs.values import INTENTS
from benchmarks.packs.intents import IntentQuestions, asked, dialogues, fit_intents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data
    every = [(one.name, *each) for one in dialogues(folder, "locomo") for each in asked(one)]
    labels = np.array([INTENTS.index(intent) for _, _, intent in every], dtype=np.int64)
    questions = IntentQuestions([text for _, text, _ in every], labels, [name for name, _, _ in every])
    model = fit_intents(questions)
    held = {"weights": {name: list(row) for name, row in sorted(model.weights.items())}}
    sys.stdout.write(json.dumps(held, indent=0) + "\n")


if __name__ == "__main__":
    main()
