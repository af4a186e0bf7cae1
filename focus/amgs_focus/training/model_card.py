"""The model card of a trained checkpoint, written from the run's own record: nothing in it is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.provenance import card_section
from amgs_focus.training.records import TrainedPart
from amgs_focus.training.run_config import RunConfig
from amgs_focus.training.run_record import RunRecord
from amgs_focus.training.run_session import duration


def gist_card(
    config: RunConfig,
    record: RunRecord,
    corpus: TrainingCorpus,
    sizes: Mapping[str, int],
    version: int,
    made: Mapping[str, str],
) -> str:
    """The card of a pair of nets. sizes: parameters by part; version: CRC-32 of the weights; made: their provenance."""
    card = record.model
    parts = {part.part: part for part in record.parts}
    lines = [
        f"# {config.name}",
        "",
        f"Gists for {card['name']} (embedding width {card['width']}), {config.gistnet.slots} a block of "
        f"{config.focus.block_size}. Version {version}, the CRC-32 of the weights, which are in half precision.",
        "",
        "## Training",
        "",
        *table(
            ("", "net for tokens", "net for gists"),
            [
                ("parameters", *(f"{sizes[one]:,}" for one in ("tokens", "gists"))),
                ("begun from", config.gistnet.start or "its pointer", "its pointer"),
                *(
                    (said, *(_of(parts.get(one), what) for one in ("tokens", "gists")))
                    for said, what in (("steps", "step"), ("time", "seconds"))
                ),
                ("weights of step", *(_of(parts.get(one), "kept") for one in ("tokens", "gists"))),
                ("workers", *(_workers(record, one) for one in ("tokens", "gists"))),
                ("base in", config.model.precision, config.model.precision),
                ("seed", str(config.seed), str(config.seed)),
            ],
        ),
        "",
        *data_table(corpus),
        "",
        "## Measured on what was kept apart",
        "",
    ]
    for one in ("tokens", "gists"):
        part = parts.get(one)
        if part is None or not part.validation:
            lines += [f"Nothing was measured for the net for {one}.", ""]
            continue
        lines += [f"The net for {one} with the weights that it keeps, those of step {part.kept}:", ""]
        lines += [*table(("metric", "value"), [(n, f"{v:.3f}") for n, v in part.validation.items()]), ""]
    lines.append(
        "`recovered_TEXT_B_T_H` is the share of the gap between dropping B blocks and reading them that their gists "
        "give back, with T raw blocks after them, over the next H tokens; `content_…` is the share that the gists of "
        "other blocks of the text do not give: (shuffled − gist) / (shuffled − full); `harm_…` is gist − drop in nats "
        "a token."
    )
    lines += card_section(made)
    return "\n".join(lines) + "\n"


def data_table(corpus: TrainingCorpus) -> list[str]:
    """What was trained on and what was kept apart, as lines."""
    return table(
        ("text", "weight", "tokens trained on", "tokens kept apart"),
        [
            (one.name, f"{one.weight:g}", f"{len(one.train):,}", f"{len(one.validation):,}")
            for one in corpus.parts
        ],
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, as lines."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _of(part: TrainedPart | None, what: str) -> str:
    if part is None:
        return "none"
    if what == "kept":
        return f"{part.kept:,}"
    return f"{part.step:,} of {part.steps:,}" if what == "step" else duration(part.seconds)


def _workers(record: RunRecord, part: str) -> str:
    return ", ".join(sorted({str(leg.workers) for leg in record.legs if leg.part == part})) or "none"
