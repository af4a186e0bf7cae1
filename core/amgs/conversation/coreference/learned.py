"""A small net over what the frozen encoder makes of two mentions, in NumPy: which mention a pronoun means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.conversation.coreference.antecedents import RULES, clause_mates, softmax_with_none
from amgs.conversation.coreference.pairs import FEATURES, pair_features
from amgs.conversation.coreference.passage import CorefPassage, Kind
from amgs.conversation.coreference.token_states import TokenStates
from amgs.errors import ModelError
from amgs.types import Vector

FORMAT = "amgs-coreference-1"
FLOOR = 1e-4
"""Added to attention before its logarithm."""


@dataclass(frozen=True, eq=False)
class PairNet:
    """Scores of pairs; attention is taken for average where two mentions were not read together.

    weights by name: `mean` and `scale` (F + A,) of features and attention; `anaphor` and
    `candidate` (P, S), projections of states; `hidden` (H, F + A + P) with `hidden_bias`; `out` (H,) and `linear`
    (F + A,); `temperature` and `reliability`, one number each. The score of nobody is 0.
    """

    weights: Mapping[str, Vector]

    def scores(self, features: Vector, attention: Vector, anaphor: Vector, candidates: Vector) -> Vector:
        """(n, F), (n, A), (S,), (n, S) -> (n,)."""
        w = self.weights
        plain = np.concatenate([features, np.log(attention + FLOOR)], axis=1)
        plain = (plain - w["mean"]) / w["scale"]
        plain[:, WIDTH:] *= features[:, -1:]
        matched = (candidates @ w["candidate"].T) * (w["anaphor"] @ anaphor)
        hidden = np.maximum(0.0, np.concatenate([plain, matched], axis=1) @ w["hidden"].T + w["hidden_bias"])
        found = hidden @ w["out"] + plain @ w["linear"] + w["bias"]
        return np.asarray(found / w["temperature"])


class LearnedScorer:
    """Reads a passage with the encoder that the net was trained over.

    Raises ModelError for weights of another format or of another encoder.
    """

    name = "learned"

    def __init__(self, net: PairNet, states: TokenStates) -> None:
        self._net, self._states = net, states

    @property
    def reliability(self) -> float:
        return float(self._net.weights["reliability"][0])

    def probabilities(self, passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> Vector:
        pairs = self._states.pairs(passage, anaphor, candidates)
        rows = with_read(pair_features(passage, anaphor, candidates), pairs.read)
        scores = self._net.scores(rows, pairs.attention, pairs.anaphor, pairs.candidates)
        labels = np.array([passage.mentions[i].kind is Kind.LABEL for i in candidates], dtype=np.float32)
        return softmax_with_none(scores + np.float32(RULES["candidate is label"]) * labels, 0.0)


def with_read(features: Vector, read: Vector) -> Vector:
    """The features of pairs as the net takes them: clause mates and whether both were read together come last; the
    label of a turn, which no text that it is trained on has, counts as a name.
    """
    found = np.concatenate([features, clause_mates(features)[:, None], read[:, None]], axis=1)
    found[:, _NAME] += found[:, _LABEL]
    found[:, _LABEL] = 0.0
    return found


_NAME, _LABEL = (FEATURES.index(f"candidate is {kind}") for kind in (Kind.NAME, Kind.LABEL))


WIDTH = len(FEATURES) + 2
"""Columns of `with_read`."""


def load_net(path: Path) -> PairNet:
    """The net of a file; raises ModelError where it is missing, damaged or of another format."""
    otherwise = "Reinstall amgs-workstation, or use the rules."
    try:
        with np.load(path, allow_pickle=False) as held:
            weights = {name: held[name] for name in held.files}
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"The coreference weights {path.name} cannot be read: {error}.", way_out=otherwise
        ) from error
    kind = str(weights.pop("format", ""))
    if kind != FORMAT:
        raise ModelError(f"{path.name} has the format {kind!r}, not {FORMAT!r}.", way_out=otherwise)
    return PairNet({name: value.astype(np.float32) for name, value in weights.items()})
