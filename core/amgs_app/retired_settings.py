"""Settings that are gone, and where each went. A key that stands here is ignored, with a warning in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amgs_focus.settings import LENS_NAMES

_CONSTANTS = "it is a constant now, in {}"
_CHANGED = "`focus set {} N` changes it in an open lifetime"

RETIRED: Mapping[str, str] = {
    "memory.retrieval.keyword_pool": _CONSTANTS.format("amgs.retrieval.waterfall"),
    "memory.retrieval.vector_pool": _CONSTANTS.format("amgs.retrieval.waterfall"),
    "memory.retrieval.fuzzy_pool": _CONSTANTS.format("amgs.retrieval.waterfall"),
    "memory.retrieval.graph_seeds": _CONSTANTS.format("amgs.retrieval.waterfall"),
    "memory.retrieval.graph_share": _CONSTANTS.format("amgs.retrieval.layers"),
    "memory.retrieval.lexical_share": _CONSTANTS.format("amgs.retrieval.waterfall"),
    "memory.conversation.decay": "memory.conversation.half_life_hours alone says how messages fade",
    "memory.conversation.importance_threshold": "memory.conversation.half_life_hours alone says how messages fade",
    "memory.conversation.recent_hours": "memory.conversation.half_life_hours alone says how messages fade",
    "memory.conversation.recency_boost": "memory.conversation.half_life_hours alone says how messages fade",
    "memory.conversation.entities": "it made no choice better",
    "memory.conversation.dates": "it made no choice better",
    "memory.conversation.goals": "it made no choice better",
    "memory.graph.ttl_seconds": _CONSTANTS.format("amgs.graph.live"),
    "memory.graph.exact_betweenness_nodes": _CONSTANTS.format("amgs.graph.live"),
    "memory.identity.refresh_hours": "`frame define SELF --refresh-hours H` says how long SELF stays fresh",
    "memory.identity": _CONSTANTS.format("amgs.frames.self and amgs.frames.cache"),
    "memory.enhancement": _CONSTANTS.format("amgs.lifecycle.similarity, .enhance and .edge_health"),
    "memory.review": _CONSTANTS.format("amgs.lifecycle.supersede and .conflict"),
    "memory.pruning.interval_hours": "the agent curation looks for what may be pruned, and `prune --dry-run` shows it",
    "memory.pruning.lowest": "give `--lowest` to `prune`",
    "memory.pruning.redundant_cosine": _CONSTANTS.format("amgs.lifecycle.prune"),
    "memory.pruning.alone_words": _CONSTANTS.format("amgs.lifecycle.prune"),
    "focus.policy": "actions are always chosen one by one, the greatest score first",
    "focus.order": "candidates are always ranked by their score",
    "focus.thresholds": "τ stays as focus.tau_expand and focus.tau_collapse say",
    "focus.insets": "a block that is wanted is reached by opening the gists above it",
    "memory.calibration.prior_strength": _CONSTANTS.format("amgs.calibration.forecasts"),
    "focus.block_size": _CONSTANTS.format("amgs_focus.settings"),
    "focus.focus_share": _CONSTANTS.format("amgs_focus.settings"),
    "focus.slack": _CHANGED.format("slack"),
    "focus.full_read_every": _CHANGED.format("full_read_every"),
    "focus.bridge_share": _CONSTANTS.format("amgs_focus.settings"),
    "focus.cooldown": _CHANGED.format("cooldown"),
    "focus.refinement_passes": _CHANGED.format("refinement_passes"),
    "focus.question_passes": _CHANGED.format("question_passes"),
    "focus.question_n_diff": _CHANGED.format("question_n_diff"),
    "focus.horizon": _CHANGED.format("horizon"),
    "focus.history": _CONSTANTS.format("amgs_focus.settings"),
    "forgetting.level_factor": _CONSTANTS.format("amgs_focus.tree.retention"),
    "forgetting.floor": _CONSTANTS.format("amgs_focus.tree.retention"),
    "forgetting.worth": _CONSTANTS.format("amgs_focus.tree.retention"),
    "forgetting.asked": _CONSTANTS.format("amgs_focus.tree.retention"),
    "forgetting.questions": _CONSTANTS.format("amgs_focus.tree.retention"),
}
"""What follows "The setting KEY is ignored: ", by the key, or by the section where all of it is gone."""

RENAMED_VALUES: Mapping[str, Mapping[str, str]] = {"focus.lens": LENS_NAMES}
"""Values of settings that have another name now, by the key."""


def without_retired(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Settings without the retired keys, and the retired keys that stood there."""
    found: list[str] = []

    def kept(section: Mapping[str, Any], steps: Sequence[str]) -> dict[str, Any]:
        left = {}
        for name, value in section.items():
            here = [*steps, name]
            if reason(".".join(here)):
                found.extend(_leaves(".".join(here), value))
            else:
                left[name] = kept(value, here) if isinstance(value, dict) else value
        return left

    return kept(given, ()), tuple(found)


def reason(key: str) -> str:
    """Why a key is gone, or its section; empty for one that is not retired."""
    steps = key.split(".")
    sections = (".".join(steps[:n]) for n in range(len(steps), 0, -1))
    return next((RETIRED[one] for one in sections if one in RETIRED), "")


def _leaves(key: str, value: Any) -> Iterator[str]:
    """The keys below a section, or the key itself."""
    if not isinstance(value, dict):
        yield key
        return
    for name, each in value.items():
        yield from _leaves(f"{key}.{name}", each)
