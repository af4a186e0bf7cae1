"""A run of a file of questions, kept as JSON: what a later run is compared with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.exchange.question_cases import as_plain, case_of
from amgs.types.question_case import CaseHit, CaseOutcome

FORMAT = "amgs questions 1"


def write_run(path: Path, outcomes: Sequence[CaseOutcome]) -> None:
    """Keep what became of the cases, in place of what the file held. Raises InputError where it cannot be written."""
    given = {
        "format": FORMAT,
        "outcomes": [
            {
                "case": as_plain(one.case),
                "faults": list(one.faults),
                "rank": one.rank,
                "hits": [asdict(hit) | {"parts": dict(hit.parts)} for hit in one.hits],
            }
            for one in outcomes
        ],
    }
    try:
        path.write_text(json.dumps(given, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.",
            title="Nothing was written",
            way_out="Choose another file.",
        ) from error


def read_run(path: Path) -> tuple[CaseOutcome, ...]:
    """The outcomes of a kept run. Raises InputError for a file that cannot be read or holds something else."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        if given["format"] != FORMAT:
            raise ValueError("another format")
        return tuple(_outcome(one) for one in given["outcomes"])
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", way_out="Give the file of a kept run."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no kept run of questions.", way_out="Keep one first.") from error


def _outcome(given: dict[str, Any]) -> CaseOutcome:
    hits = tuple(
        CaseHit(
            str(one["block"]),
            str(one["title"]),
            int(one["rank"]),
            float(one["score"]),
            tuple(map(str, one["layers"])),
            tuple((str(name), float(value)) for name, value in one["parts"].items()),
            bool(one["wanted"]),
        )
        for one in given["hits"]
    )
    rank = None if given["rank"] is None else int(given["rank"])
    return CaseOutcome(case_of(given["case"], "A case"), tuple(map(str, given["faults"])), rank, hits)
