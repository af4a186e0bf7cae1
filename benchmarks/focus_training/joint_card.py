"""The model card of a run of phases, written from the run's own record."""

from __future__ import annotations

from collections.abc import Sequence

from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.model_card import data_table, table
from amgs_focus.training.provenance import card_section, of_run
from amgs_focus.training.run_record import RunRecord
from amgs_focus.training.run_session import duration
from benchmarks.focus_training.joint_config import JointRunConfig


def joint_card(config: JointRunConfig, record: RunRecord, corpus: TrainingCorpus, kept: Sequence[str]) -> str:
    """The card of a run of phases on working contexts. kept: the phases whose checkpoints it ended with."""
    focus = config.focus
    lines = [
        f"# {config.name}",
        "",
        f"Phases on {record.model['name']} with a window of {focus.window} over {config.contexts.lifetime} tokens of "
        f"life, {focus.horizon} tokens asked. Kept: {', '.join(kept) or 'nothing, no phase had an effect'}.",
        "",
        *table(
            (
                "phase",
                "steps",
                "time",
                "loss before",
                "after",
                "change [95 %]",
                "beyond raw tokens [95 %]",
                "verdict",
            ),
            [
                (
                    one.phase,
                    *next(
                        ((f"{p.step:,}", duration(p.seconds)) for p in record.parts if p.part == one.phase),
                        ("", ""),
                    ),
                    f"{one.before:.4f}",
                    f"{one.after:.4f}",
                    interval(one.change),
                    interval(one.beyond_plain),
                    one.verdict,
                )
                for one in record.effects
            ],
        ),
        "",
        "Losses are NLL in nats a token over windows kept apart, the same for both; a phase that is not better is "
        "taken back. Beyond raw tokens: how much more the working context changed than as many raw tokens did.",
        "",
        *data_table(corpus),
        *card_section(of_run(config, corpus)),
    ]
    return "\n".join(lines) + "\n"


def interval(found: tuple[float, float, float]) -> str:
    """A mean with its ends."""
    return f"{found[0]:+.4f} [{found[1]:+.4f}, {found[2]:+.4f}]"
