"""Layer 2: five agents choose packs, each by its role. In three rounds each sees, in a shared memory, what the others
chose and why, and changes its choice; a vote, weighed by how often each was right, makes the consensus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import exp
from types import MappingProxyType

from amgs.decay import hours_between
from amgs.wings.packs.engine.task import PackTask

_ROUNDS, _PICKS, _CANDIDATES = 3, 5, 20
_SUPPORT = 0.2
"""What the votes of the others count beside an agent's own score."""
_SMALLER, _SAME_DOMAIN = 0.7, 0.5
_RECENT_DAYS = 30.0
NOBODY_KNOWN: Mapping[str, float] = MappingProxyType({})


def _quality(task: PackTask, name: str) -> float:
    usage = task.usages[name]
    return (1.0 + (usage.success or 0.0) * usage.judged) / (2.0 + usage.judged)


def _recency(task: PackTask, name: str) -> float:
    usage = task.usages[name]
    return exp(-max(hours_between(usage.last_used or usage.pack.created_at, task.now), 0.0) / 24.0 / _RECENT_DAYS)


def _domain(task: PackTask, name: str) -> float:
    """Return the share of the question's words that the pack's name, title, query and keywords hold."""
    pack, asked = task.usages[name].pack, task.stems(task.query)
    stems = task.stems(" ".join((pack.name, pack.title, pack.query, *pack.keywords)))
    return (0.1 + len(asked & stems)) / (0.1 + len(asked))


ROLES: Mapping[str, Callable[[PackTask, str], float]] = {
    "relevance": lambda _task, _name: 1.0,
    "efficiency": lambda task, name: 1.0 / max(task.cost(name), 1),
    "quality": _quality,
    "recency": _recency,
    "domain": _domain,
}
"""What each agent multiplies the worth of a pack with."""


def pick_packs(task: PackTask) -> dict[str, list[str]]:
    """Return what each agent chooses after three rounds, the best first; writes its rationale."""
    candidates = task.ranked()[:_CANDIDATES]
    scores = {
        agent: _scaled({name: task.worth[name] * role(task, name) for name in candidates})
        for agent, role in ROLES.items()
    }
    picks = {agent: _best(own) for agent, own in scores.items()}
    for _ in range(_ROUNDS):
        shared = {agent: list(own) for agent, own in picks.items()}
        for agent, own in scores.items():
            heard = _scaled(_votes({who: theirs for who, theirs in shared.items() if who != agent}))
            picks[agent] = _best({name: own[name] + _SUPPORT * heard.get(name, 0.0) for name in candidates})
        picks["relevance"] = _swap_for_smaller(task, picks["relevance"], picks["efficiency"])
        for agent, picked in picks.items():
            alike = [who for who, theirs in picks.items() if who != agent and picked and picked[0] in theirs[:2]]
            reason = (
                f"{picked[0]} ({scores[agent][picked[0]]:.2f}) first of {', '.join(picked)}" if picked else "nothing"
            )
            task.rationale[agent] = f"{reason}; so would {', '.join(alike)}" if alike else reason
    return picks


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: (-scores[name], name))[:_PICKS]


def _votes(picks: Mapping[str, Sequence[str]], accuracy: Mapping[str, float] = NOBODY_KNOWN) -> dict[str, float]:
    """Return the votes for each pack: a vote is smaller the later a pack is chosen, and the less often its agent was
    right.
    """
    votes: dict[str, float] = defaultdict(float)
    for agent, own in picks.items():
        for rank, name in enumerate(own):
            votes[name] += accuracy.get(agent, 0.5) / (rank + 1)
    return votes


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    most = max(scores.values(), default=0.0)
    return {name: score / most if most else 0.0 for name, score in scores.items()}


def _swap_for_smaller(task: PackTask, picks: Sequence[str], efficient: Sequence[str]) -> list[str]:
    """Replace packs by efficient ones that are much smaller and hold much of the same."""
    swapped = []
    for name in picks:
        own = {block.id for _, block in task.members[name]}
        smaller = [
            other
            for other in efficient
            if task.tokens(other) < _SMALLER * task.tokens(name)
            and len(own & {block.id for _, block in task.members[other]}) >= _SAME_DOMAIN * len(task.members[other])
        ]
        swapped.append(smaller[0] if smaller else name)
    return list(dict.fromkeys(swapped))


def agree_on_packs(task: PackTask) -> str:
    """Take packs in the order of votes, each weighed by how often its agent was right, while they fit."""
    picks = pick_packs(task)
    votes = _votes(picks, task.accuracy)
    task.chosen, used = [], 0
    for name in sorted(votes, key=lambda n: (-votes[n], n)):
        fits = used + task.cost(name) <= task.reach
        task.because[name] = f"{votes[name]:.2f} votes" + ("" if fits else ", no room")
        if fits:
            task.chosen.append(name)
            used += task.cost(name)
    right = ", ".join(f"{agent} {task.accuracy.get(agent, 0.5):.2f}" for agent in picks)
    return f"{len(picks)} agents, {_ROUNDS} rounds, {len(votes)} packs with votes; how often each was right: {right}"


def accuracies(votes: Sequence[tuple[str, float, float]]) -> dict[str, float]:
    """Return how often each agent was right: the mean outcome of what it voted for, by its votes; .5 where nothing
    tells.
    """
    weighed: dict[str, list[float]] = {agent: [0.5, 1.0] for agent in ROLES}
    for agent, vote, outcome in votes:
        if agent in weighed:
            weighed[agent][0] += vote * outcome
            weighed[agent][1] += vote
    return {agent: hits / of for agent, (hits, of) in weighed.items()}
