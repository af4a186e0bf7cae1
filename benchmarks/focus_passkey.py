"""`focus-passkey`: pass keys planted at every depth of lifetimes of 4k to 1M tokens, then asked for.

Forced choice among eight. "Expanded" says that the key stood in the window as its own tokens when the model
chose, "answered" that it chose it; the ceiling is the same choice with the key in plain sight in a window of
the same size. Half of the keys lie across the edge of two blocks.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

import numpy as np

from amgs_focus.model.base_model import BaseModel
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.bench_results import Bench, BenchResult, BenchTable
from benchmarks.focus_evaluation.needles import (
    CHANCE,
    Needle,
    Planted,
    answers_from,
    ask,
    pass_keys,
    plant,
    room_for_text,
)
from benchmarks.focus_rig import FocusRig, Ledger, Row, kept_lifetime, say_percent

SIZES: Mapping[str, int] = {"4k": 4096, "32k": 32_768, "256k": 262_144, "1M": 1_048_576}
BENCH = Bench(
    "focus-passkey",
    {
        f"{kind}_{name}": (">=", value)
        for name in SIZES
        for kind, value in (("expanded_rate", 90.0), ("answered_of_ceiling", 80.0))
    },
)
SETTINGS = FocusSettings()
SEED = 0


def run(
    rig: FocusRig, *, sizes: Mapping[str, int] = SIZES, keys: int = 24, settings: FocusSettings = SETTINGS
) -> BenchResult:
    """Ask for every key of every lifetime that the texts can fill. Lifetimes are kept in the folder.

    A quick run takes the two smallest lifetimes and a third of the keys.
    """
    if rig.quick:
        sizes, keys = dict(list(sizes.items())[:2]), max(2, keys // 3)
    told = {**rig.parts(), **rig.searching(), "keys": keys, **settings.model_dump(), "seed": SEED}
    ledger = rig.ledger(BENCH, told)
    ceiling = _ceiling(rig, keys, settings, ledger)
    fitting = {name: size for name, size in sizes.items() if len(rig.text) >= size}
    rows = {name: _lifetime(rig, name, size, keys, settings, ledger) for name, size in fitting.items()}
    metrics = {"ceiling": _percent(ceiling, "answered")}
    for name, asked in rows.items():
        expanded, answered = _percent(asked, "expanded"), _percent(asked, "answered")
        metrics |= {
            f"expanded_rate_{name}": expanded,
            f"answered_rate_{name}": answered,
            f"answered_of_ceiling_{name}": 100 * answered / max(metrics["ceiling"], 1e-9),
        }
    shown = {**told, "rows": str(ledger.path), "chance": 100 * CHANCE}
    shown["left_out"] = [name for name in sizes if name not in fitting]
    return BENCH.result(shown, metrics, (_table(rows, ceiling), _depths(rows)))


def _ceiling(rig: FocusRig, keys: int, settings: FocusSettings, ledger: Ledger) -> list[Row]:
    """Each key in a window of raw text, at a depth drawn for it."""
    model, text = rig.model, rig.text
    rng = random.Random(f"ceiling {SEED}")
    rows = []
    for number, needle in enumerate(pass_keys(keys, SEED)):
        rig.progress(number, keys, "the key in plain sight")
        statement = model.encode(needle.statement)
        room = room_for_text(model, settings.window, needle) - len(statement)
        start = rng.randrange(max(1, len(text) - room))
        at = rng.randrange(room + 1)
        seen = [*text[start : start + at], *statement, *text[start + at : start + room]]
        rows.append(ledger.once(f"ceiling/{number}", partial(_plain, model, seen, needle)))
    return rows


def _plain(model: BaseModel, seen: Sequence[int], needle: Needle) -> Row:
    return {"answered": answers_from(model, seen, needle)}


def _lifetime(rig: FocusRig, name: str, size: int, keys: int, settings: FocusSettings, ledger: Ledger) -> list[Row]:
    """Every key of one lifetime asked for; the lifetime is opened only when one was not asked before."""
    known = [ledger.get(f"{name}/{number}") for number in range(keys)]
    if all(row is not None for row in known):
        return [row for row in known if row is not None]
    rows = []
    block_size = settings.block_size
    tokens, planted = plant(rig.model, rig.text, pass_keys(keys, SEED), size, block_size, SEED)
    with closing(kept_lifetime(rig, f"keys-{keys}-{SEED}-{name}", tokens, block_size)) as tree:
        for number, one in enumerate(planted):
            rig.progress(number, keys, f"asking {name}")
            measure = partial(_ask, rig, tree, settings, one, number)
            rows.append(ledger.once(f"{name}/{number}", measure))
    return rows


def _ask(rig: FocusRig, tree: LifetimeTree, settings: FocusSettings, planted: Planted, number: int) -> Row:
    began = rig.clock.perf()
    depth = planted.start / tree.length
    asked = ask(tree, rig.scorer, settings, planted, rig.clock, rig.search)
    return {
        "depth": depth,
        "across": number % 2 == 1,
        "expanded": asked.expanded,
        "answered": asked.answered,
        "applied": asked.applied,
        "seconds": rig.clock.perf() - began,
    }


def _table(rows: Mapping[str, Sequence[Row]], ceiling: Sequence[Row]) -> BenchTable:
    columns = ("lifetime", "keys", "expanded %", "answered %", "if expanded", "if not", "across an edge", "inside")
    lines: list[tuple[str | float, ...]] = [
        ("in plain sight", str(len(ceiling)), "", say_percent(ceiling, "answered"), "", "", "", "")
    ]
    for name, asked in rows.items():
        parts = [
            [row for row in asked if row[field] is value]
            for field, value in (("expanded", True), ("expanded", False), ("across", True), ("across", False))
        ]
        lines.append(
            (
                name,
                str(len(asked)),
                say_percent(asked, "expanded"),
                say_percent(asked, "answered"),
                *(say_percent(part, "answered", interval=False) for part in parts[:2]),
                *(say_percent(part, "expanded", interval=False) for part in parts[2:]),
            )
        )
    return BenchTable("Expanded and answered; the last two columns are of expanded", columns, tuple(lines))


def _depths(rows: Mapping[str, Sequence[Row]]) -> BenchTable:
    """Expanded, then answered, by fifths of the depth."""
    lines = []
    for name, asked in rows.items():
        for field in ("expanded", "answered"):
            fifths = [[row for row in asked if int(5 * row["depth"]) == fifth] for fifth in range(5)]
            lines.append((f"{name} {field}", *(say_percent(fifth, field, interval=False) for fifth in fifths)))
    columns = ("percent by depth", "0–20", "20–40", "40–60", "60–80", "80–100")
    return BenchTable("From the beginning of the lifetime to its end", columns, tuple(lines))


def _percent(rows: Sequence[Row], field: str) -> float:
    return 100 * float(np.mean([row[field] for row in rows]))
