"""What an exported checkpoint tells of how it was made, in its metadata and in its model card.

Configuration, seed, the program's commit, hashes of texts; the card is written from the run's own record, and nothing
in it is typed by hand. Paths are cut to their names: they say nothing elsewhere.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.records import TrainedPart
from benchmarks.focus_training.run_config import RunConfig
from benchmarks.focus_training.run_record import RunRecord, duration

UNKNOWN = "unknown"
_LOCAL = {"model": {"cache"}, "data": {"staged"}, "out": True, "logging": True}
_WAIT = 10.0  # seconds for git to answer


def of_run(config: RunConfig, corpus: TrainingCorpus) -> dict[str, str]:
    """Of a run from a file. A text's hash is the SHA-256 of its files' bytes."""
    told = config.model_dump(mode="json", exclude=_LOCAL)  # type: ignore[arg-type]
    return made(told, config.seed, {part.name: part.digest for part in corpus.parts})


def card_section(made: Mapping[str, str]) -> list[str]:
    """The same as lines of a model card."""
    texts = json.loads(made["texts"])
    return [
        "",
        "## Provenance",
        "",
        f"Commit {made['commit']}, seed {made['seed']}. SHA-256 of the texts:",
        "",
        *(f"- {name}: `{digest or UNKNOWN}`" for name, digest in texts.items()),
        "",
        "Configuration:",
        "",
        "```json",
        json.dumps(json.loads(made["configuration"]), indent=1),
        "```",
    ]


def commit(folder: Path = Path(__file__).parent) -> str:
    """The commit that the program in a folder is of, with `-dirty` where files were changed since; "unknown" where no
    repository holds it.
    """
    try:
        _git(folder, "ls-files", "--error-unmatch", "__init__.py")  # not installed inside somebody else's repository
        return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*")
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN


def _git(folder: Path, *words: str) -> str:
    told = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=_WAIT)
    return told.stdout.strip() or UNKNOWN


def made(configuration: Mapping[str, Any], seed: int, texts: Mapping[str, str]) -> dict[str, str]:
    """Of a configuration, a seed and the SHA-256 of each text, as a checkpoint's metadata."""
    return {
        "configuration": json.dumps(_without_folders(configuration), sort_keys=True),
        "seed": str(seed),
        "commit": commit(),
        "texts": json.dumps(dict(texts)),
    }


def _without_folders(value: Any) -> Any:
    """A configuration whose absolute paths are cut to their names."""
    if isinstance(value, Mapping):
        return {name: _without_folders(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(one) for one in value]
    if isinstance(value, str) and PurePath(value).is_absolute():
        return PurePath(value).name
    return value


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
        f"Gists for {card['name']} (embedding width {card['width']}), one a block of "
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
        [(one.name, f"{one.weight:g}", f"{len(one.train):,}", f"{len(one.validation):,}") for one in corpus.parts],
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
