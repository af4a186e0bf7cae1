"""Fit what ships with `pack intent` to LoCoMo's questions.

    python -m benchmarks.packs.fit_intents DIR

DIR/locomo holds the conversations; writes `intent_weights.json` to stdout: the weights of the signs of a question, and
for each intent what the best block of each family's walk gains.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from amgs.text.minilm import MiniLM
from amgs.text.tokens import approximate_tokens
from amgs.types.pack_families import FAMILIES, INTENTS
from benchmarks.packs.families import labelled
from benchmarks.packs.intents import fit_intents
from benchmarks.packs.walked import dialogues, fit, walk
from benchmarks.rig import MemoryRig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    rig = MemoryRig(embedder=MiniLM(), count_tokens=approximate_tokens)
    folder = parser.parse_args().data
    every = [one for conversation in dialogues(folder, "locomo") for one in walk(conversation, rig)[0]]
    model = fit_intents(labelled(every))
    families = {}
    for intent in INTENTS:
        found = fit([one for one in every if one.intent == intent])
        families[intent] = {name: round(w, 3) for name, w in zip(FAMILIES, found[1:].tolist(), strict=True)}
    held = {"families": families, "weights": {name: list(row) for name, row in sorted(model.weights.items())}}
    sys.stdout.write(json.dumps(held, indent=0) + "\n")


if __name__ == "__main__":
    main()
