"""How likely proposals about packs are accepted, as decisions teach, and whether that is better than the rule.

What is learned is asked only where the log shows that it is better. It orders and withholds: a merge or a retirement
that the rule is against is never proposed by it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amgs.extras import explained, installed
from amgs.packs.off_policy import PolicyEstimate, mean_of, self_normalised
from amgs.packs.proposals import COST, PackCandidate, by_rule, ranked, worth
from amgs.types.pack_learning import PACK_ACTIONS, PackAction, PackProposal, PackProposals

if TYPE_CHECKING:
    from river.compose import Pipeline

_RATE, _RIDGE, _REPLAYS = 0.1, 1e-3, 10
_SPAN = (-max(COST.values()), 1.0)
LEAST_EFFECTIVE = 30.0
"""Rounds of equal weight that the log must be worth before what is learned may be in force."""


class AcceptanceModel:
    """For each action a logistic regression of whether it is accepted on what is seen of it, learned one by one, each
    decision with ten of those before it again.

    Raises MissingExtraError without the package river (the extra `learning`).
    """

    def __init__(self) -> None:
        with explained():
            from river import compose, linear_model, optim, preprocessing
        self._of: Mapping[PackAction, Pipeline] = {
            action: compose.Pipeline(
                preprocessing.StandardScaler(),
                linear_model.LogisticRegression(optimizer=optim.SGD(_RATE), l2=_RIDGE, intercept_lr=_RATE),
            )
            for action in PACK_ACTIONS
        }
        self._taken: Mapping[PackAction, list[tuple[dict[str, float], bool]]] = {a: [] for a in PACK_ACTIONS}
        self._chance = random.Random(0)

    def learn(self, one: PackCandidate, accepted: bool) -> None:
        """Take a decision in."""
        own, taken = self._of[one.action], self._taken[one.action]
        taken.append((_seen(one), accepted))
        own.learn_one(*taken[-1])
        for _ in range(_REPLAYS):
            own.learn_one(*self._chance.choice(taken))

    def likely(self, one: PackCandidate) -> float:
        """How likely it is accepted; 0 for a merge or a retirement that the rule is against."""
        if COST[one.action] > 1.0 and one.sure <= 0.0:
            return 0.0
        return float(self._of[one.action].predict_proba_one(_seen(one)).get(True, 0.5))


def _seen(one: PackCandidate) -> dict[str, float]:
    return {**one.features, "sure": one.sure}


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """The worth of a place by the rule and as learned, self-normalised, and the difference, doubly robust and paired,
    from the same log.
    """

    rule: PolicyEstimate
    learned: PolicyEstimate
    gain: PolicyEstimate

    @property
    def better(self) -> bool:
        """Whether what is learned is better at the lower end of the 95 % interval, in a log that is worth enough."""
        return self.gain.low > 0.0 and self.learned.effective >= LEAST_EFFECTIVE


def candidate_of(one: PackProposal) -> PackCandidate:
    """What was proposed, as it was looked at."""
    return PackCandidate(
        one.action, one.packs, one.name, one.come, one.gone, one.because, one.features, one.sure
    )


def learned_from(log: Sequence[PackProposals]) -> AcceptanceModel:
    """What the decisions of a log teach, the latest list first in it."""
    model = AcceptanceModel()
    for plan in reversed(log):
        _take_in(model, plan)
    return model


def available() -> bool:
    """Whether the package that learns is installed."""
    return installed("river")


def compared(log: Sequence[PackProposals]) -> PolicyComparison:
    """The rule and what is learned, list by list, each judged by a model that knows only the lists before it.

    A round is a place whose proposal was decided. What the rule ranks first of all that could have stood there is
    looked at: a policy proposes it, and gets 1 where it is accepted, else less its cost; or it does not, and gets 0.
    Where chance put another in its place the round has no weight, and the model of rewards speaks for it.
    """
    model = AcceptanceModel()
    rounds: list[tuple[float, ...]] = []
    for plan in reversed(log):
        for one, rest in _places(plan):
            first = ranked(rest, by_rule)[0]
            expected = worth(first, model.likely(first))
            rounds.append(
                (
                    1.0 if one.state == "accepted" else -COST[one.action],
                    1.0 / one.propensity if first is rest[0] else 0.0,
                    float(worth(first, first.sure) > 0.0),
                    float(expected > 0.0),
                    expected,
                )
            )
        _take_in(model, plan)
    table = np.array(rounds, dtype=np.float64).reshape(len(rounds), 5)
    rewards, weights, as_ruled, as_learned, expected_of = table.T
    more = as_learned - as_ruled
    terms = more * (expected_of + weights * (rewards - expected_of))
    return PolicyComparison(
        self_normalised(rewards * as_ruled, weights, _SPAN),
        self_normalised(rewards * as_learned, weights, _SPAN),
        mean_of(terms),
    )


def _places(plan: PackProposals) -> Iterator[tuple[PackProposal, list[PackCandidate]]]:
    """Each place that was decided: what stood there, and all that could have, that one first."""
    passed = [candidate_of(one) for one in plan.passed_over] if plan.explore else []
    shown = [candidate_of(one) for one in plan.proposals]
    for place, one in enumerate(plan.proposals):
        if one.state != "open":
            yield one, [*shown[place:], *passed]


def _take_in(model: AcceptanceModel, plan: PackProposals) -> None:
    for one in plan.proposals:
        if one.state != "open":
            model.learn(candidate_of(one), one.state == "accepted")
