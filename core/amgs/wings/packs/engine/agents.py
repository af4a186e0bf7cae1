"""Layer 2: five agents with different criteria choose packs.

In three rounds each agent sees the choices of the others and revises its own; a vote, weighted by each agent's past
accuracy, decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import exp

from amgs.text.plural import plural
from amgs.wings.packs.engine.task import PackTask

_ROUNDS, _PICKS, _CANDIDATES = 3, 5, 20
_SUPPORT, _SMALLER, _SAME_DOMAIN, _RECENT_DAYS = 0.2, 0.7, 0.5, 30.0
"""Weight of the others' votes beside an agent's own score; relative size below which a pack replaces a larger one;
share of its members that must be in the larger one; days in which a reading's weight falls to 1/e.
"""


def _smoothed_success(task: PackTask, name: str) -> float:
    """Return the mean outcome of a pack's readings, with two prior outcomes of .5."""
    usage = task.usages[name]
    return (1.0 + (usage.success or 0.0) * usage.judged) / (2.0 + usage.judged)


def _keyword_overlap(task: PackTask, name: str) -> float:
    """Return the share of the question's stems that the pack's name, title, query and keywords contain."""
    pack, asked = task.usages[name].pack, task.stems(task.query)
    stems = task.stems(" ".join((pack.name, pack.title, pack.query, *pack.keywords)))
    return (0.1 + len(asked & stems)) / (0.1 + len(asked))


ROLES: Mapping[str, Callable[[PackTask, str], float]] = {
    "relevance": lambda _task, _name: 1.0,
    "efficiency": lambda task, name: 1.0 / max(task.cost(name), 1),
    "quality": _smoothed_success,
    "recency": lambda task, name: exp(-task.usages[name].unread / _RECENT_DAYS),
    "domain": _keyword_overlap,
}
"""Factor by which each agent multiplies the worth of a pack."""


def pick_packs(task: PackTask) -> dict[str, list[str]]:
    """Return each agent's choices after three rounds, best first; writes their rationale into the task."""
    candidates = task.ranked()[:_CANDIDATES]
    scores = {who: _scale({n: task.worth[n] * role(task, n) for n in candidates}) for who, role in ROLES.items()}
    picks = {agent: _best(own) for agent, own in scores.items()}
    for _ in range(_ROUNDS):
        shared = dict(picks)
        for agent, own in scores.items():
            heard = _scale(_votes({who: theirs for who, theirs in shared.items() if who != agent}, {}))
            picks[agent] = _best({name: own[name] + _SUPPORT * heard.get(name, 0.0) for name in candidates})
        picks["relevance"] = _swap_for_smaller(task, picks["relevance"], picks["efficiency"])
    for agent, names in picks.items() if candidates else ():
        alike = [who for who, theirs in picks.items() if who != agent and names[0] in theirs[:2]]
        reason = f"{names[0]} ({scores[agent][names[0]]:.2f}) first of {', '.join(names)}"
        task.rationale[agent] = f"{reason}; so would {', '.join(alike)}" if alike else reason
    return picks


def _best(scores: Mapping[str, float]) -> list[str]:
    """Return the names with the best scores."""
    return sorted(scores, key=lambda name: (-scores[name], name))[:_PICKS]


def _votes(picks: Mapping[str, Sequence[str]], accuracy: Mapping[str, float]) -> dict[str, float]:
    """Return each pack's votes: 1/rank in each agent's choices, weighted by its accuracy."""
    votes: dict[str, float] = defaultdict(float)
    for agent, own in picks.items():
        for rank, name in enumerate(own, 1):
            votes[name] += accuracy.get(agent, 0.5) / rank
    return votes


def _scale(scores: Mapping[str, float]) -> dict[str, float]:
    """Divide scores by the highest."""
    most = max(scores.values(), default=0.0) or 1.0
    return {name: score / most for name, score in scores.items()}


def _swap_for_smaller(task: PackTask, picks: Sequence[str], efficient: Sequence[str]) -> list[str]:
    """Replace packs by efficient ones that are much smaller and have most of their members in them."""
    blocks = {name: {block.id for _, block in task.members[name]} for name in (*picks, *efficient)}

    def replaces(other: str, name: str) -> bool:
        smaller = task.tokens(other) < _SMALLER * task.tokens(name)
        return smaller and len(blocks[name] & blocks[other]) >= _SAME_DOMAIN * len(blocks[other])

    return list(dict.fromkeys(next((o for o in efficient if replaces(o, name)), name) for name in picks))


def agree_on_packs(task: PackTask) -> str:
    """Choose packs in order of votes, weighted by the agents' accuracy, while they fit."""
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
    voted = plural(len(votes), "pack")
    return f"{len(picks)} agents, {_ROUNDS} rounds, {voted} with votes; how often each was right: {right}"


def accuracies(votes: Sequence[tuple[str, float, float]]) -> dict[str, float]:
    """Return each agent's accuracy: the mean outcome of its votes; .5 without any."""
    own = {agent: [(0.5, 1.0), *((v * out, v) for who, v, out in votes if who == agent)] for agent in ROLES}
    return {agent: sum(hit for hit, _ in of) / sum(vote for _, vote in of) for agent, of in own.items()}
