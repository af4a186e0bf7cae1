"""`focus-policy`: what the focus costs or gains while nothing is asked.

A text streams by: a refocus, then the next 32 tokens are read as they are, and so on. For each rule: the share of
entries that a refocus changes, and how much dearer the next tokens are, and how much farther what the model says of
them from what it says after the full text (KL), than in a window that stands still but for the room that new text
needs. Random opening stands beside the lens; intervals by place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.runtime.prefix import FocusState, PrefixReader, mean_residency
from amgs_focus.runtime.timeline import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.window.allocator import make_room
from amgs_focus.window.candidates import lay_out
from amgs_focus.window.working_context import Scores
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.statistics import resampled
from benchmarks.focus_rig import FocusRig, Row

BENCH = Bench(
    "focus-policy",
    {"delta_nll": ("<=", 0.01), "delta_kl": ("<=", 0.01), "changed": ("<=", 0.12), "residency": (">=", 3.0)},
)
SETTINGS = FocusSettings()
LIFETIME = 3008
STILL, LENS, RANDOM, THRESHOLDS = "still", "the lens", "random", "thresholds of the specification"
FIELDS = ("nll", "kl", "changed", "residency")


class FixedScorer:
    """Scores that no text decides: all alike, or drawn for each entry and refocus."""

    version = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def score(self, view: LensView) -> Scores:
        values = [self._score(f"{entry.node} {view.context.lifetime}") for entry in view.context.entries()]
        whole = np.repeat(np.array(values), [entry.cost for entry in view.context.entries()])
        return Scores(whole, {self.name: whole})

    def _score(self, key: str) -> float:
        return 0.0 if self.name == STILL else hashlib.sha256(key.encode()).digest()[0] / 255 - 0.5


def run(
    rig: FocusRig, *, places: int = 8, refocuses: int = 8, lifetime: int = LIFETIME, settings: FocusSettings = SETTINGS
) -> BenchResult:
    """Stream so many places of the texts by; a quick run takes a quarter. Raises TextError for texts too short."""
    places = max(2, places // 4) if rig.quick else places
    told = {**rig.parts(), "lifetime": lifetime, "refocuses": refocuses, **settings.model_dump()}
    ledger = rig.ledger(BENCH, told)
    rules: dict[str, tuple[FocusScorer, FocusSettings]] = {
        STILL: (FixedScorer(STILL), settings),
        LENS: (rig.scorer, settings),
        RANDOM: (FixedScorer(RANDOM), settings),
        THRESHOLDS: (rig.scorer, settings.model_copy(update={"unasked": "thresholds"})),
    }
    need = lifetime + refocuses * settings.cadence
    rows: dict[str, list[Row]] = {rule: [] for rule in rules}
    drawn = [excerpt for corpus in rig.corpora for excerpt in corpus.excerpts(need, places // len(rig.corpora), 0)]
    for number, excerpt in enumerate(drawn):
        full = None
        for rule, (scorer, chosen) in rules.items():
            rig.progress(number, len(drawn), rule)
            key = f"{rule}/{hashlib.sha256(repr(excerpt.tokens).encode()).hexdigest()[:12]}"
            row = ledger.get(key)
            if row is None:
                full = _after_full_text(rig, excerpt.tokens, lifetime) if full is None else full
                measured = _streamed(rig, excerpt.tokens, lifetime, scorer, chosen, full)
                row = ledger.once(key, lambda: measured)  # noqa: B023
            rows[rule].append(row)
    intervals = {
        (rule, field): resampled(
            {"x": [row[field] for row in rows[rule]], "still": [row[field] for row in rows[STILL]]},
            (lambda means: means["x"]) if field in ("changed", "residency") else (lambda m: m["x"] - m["still"]),
            seed=0,
        )
        for rule in rules
        for field in FIELDS
    }
    metrics = {name: intervals[LENS, field].mean for name, field in _NAMED}
    metrics |= {f"{name}_random": intervals[RANDOM, field].mean for name, field in _NAMED}
    lines = tuple((rule, *(intervals[rule, field].said(3) for field in FIELDS)) for rule in rules)
    table = BenchTable("Against a window that stands still", ("rule", "ΔNLL", "ΔKL", "changed", "residency"), lines)
    return BENCH.result({**told, "places": len(drawn), "rows": str(ledger.path)}, metrics, (table,))


_NAMED = (("delta_nll", "nll"), ("delta_kl", "kl"), ("changed", "changed"), ("residency", "residency"))


def _after_full_text(rig: FocusRig, tokens: Sequence[int], lifetime: int) -> torch.Tensor:
    """(n, V) log probabilities of each token from `lifetime` on, after all before it."""
    model = rig.model
    with torch.no_grad():
        rows = model.embed(torch.tensor([[*model.sinks(), *tokens[:-1]]]))
        hidden = model.forward(rows)[0, len(model.sinks()) + lifetime - 1 :]
        return torch.log_softmax(model.logits(hidden).cpu(), dim=-1)


def _streamed(
    rig: FocusRig,
    tokens: Sequence[int],
    lifetime: int,
    scorer: FocusScorer,
    settings: FocusSettings,
    full: torch.Tensor,
) -> Row:
    """Means of one rule over the refocuses of one place."""
    tree = rig.lifetime(tokens[:lifetime], settings)
    reader = PrefixReader(rig.model, rig.clock)
    state = replace(FocusState(lay_out(tree, settings), settings), fresh=False)
    seen: dict[str, list[float]] = {field: [] for field in FIELDS}
    for start in range(lifetime, len(tokens), settings.cadence):
        future = list(tokens[start : start + settings.cadence])
        before = {entry.node for entry in state.context.entries()}
        state, record = refocus(state, tree, scorer, settings, reader, rig.clock)
        rows = state.context.embeddings(tree, 0, state.context.read)
        with torch.no_grad():
            read = torch.cat([rows, rig.model.embed(torch.tensor(future[:-1]))])
            hidden = rig.model.forward(read[None])[0, len(rows) - 1 :]
            said = torch.log_softmax(rig.model.logits(hidden).cpu(), dim=-1)
        target = full[start - lifetime : start - lifetime + len(future)]
        seen["nll"].append(-float(said[range(len(future)), future].mean()))
        seen["kl"].append(float((target.exp() * (target - said)).sum(dim=-1).mean()))
        seen["changed"].append(sum(entry.node not in before for entry in state.context.entries()) / len(before))
        seen["residency"].append(mean_residency(state.context, state.residency, record.number))
        tree.append(future)
        allocator = replace(state.allocator, headroom=0)
        grown = state.context.extend_lifetime(tree.length)
        state = replace(state, context=make_room(grown, state.scores, tree, settings, allocator).context)
    tree.close()
    return {field: float(np.mean(values[-1:] if field == "residency" else values)) for field, values in seen.items()}
