"""A run small enough for a test: the tiny model, two short texts, a few steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel as Section

from benchmarks.__main__ import run

LAMPS = " ".join(f"the {i % 7} lamps of house {i % 11} burn until {i % 5} o'clock." for i in range(400))

CONFIG = """
name = "lamps"
seed = 3
out = "run"

[model]
base = "tiny"

[[data.texts]]
name = "lamps"
path = "lamps.txt"
held_out = 0.2

[[data.texts]]
name = "notes"
path = "notes"
weight = 0.5
held_out = 0.0

[gistnet.tokens]
hidden = 32
heads = 4
steps = 6
validate_every = 6
validation_windows = 4
save_every = 2
optimiser = { learning_rate = 3e-3, warmup = 2 }
loss = { hinge_every = 2 }
phases = [{ until = 99, sequences = 2, blocks = 2, short = 2, long = 0, short_horizon = 16 }]

[gistnet.gists]
hidden = 16
heads = 4
steps = 2
validate_every = 2
validation_windows = 4
optimiser = { learning_rate = 3e-3, warmup = 2 }
phases = [{ until = 99, sequences = 1, blocks = 1, short = 1, long = 0, short_horizon = 16 }]
"""


def bench(tmp_path: Path, *words: str) -> int:
    """Run a benchmark's command on the tiny model."""
    return run(["--model", "tiny", "--store", str(tmp_path / "s.duckdb"), *words])


def write_run(folder: Path, config: str = CONFIG) -> Path:
    """The texts and the configuration in a folder; the configuration's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lamps.txt").write_text(LAMPS, encoding="utf-8")
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes" / "b.md").write_text(LAMPS[5000:9000], encoding="utf-8")
    (folder / "notes" / "a.md").write_text(LAMPS[:3000], encoding="utf-8")
    file = folder / "run.toml"
    file.write_text(config, encoding="utf-8")
    return file


def keys_of(section: type[Section], prefix: str = "") -> list[str]:
    """Every key of a configuration, with its way through the sections."""
    found = []
    for name, field in section.model_fields.items():
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
        inner = next((one for one in kinds if isinstance(one, type) and issubclass(one, Section)), None)
        found += keys_of(inner, f"{prefix}{name}.") if inner else [prefix + name]
    return found


def written_keys(given: dict[str, Any], prefix: str = "") -> list[str]:
    """The keys of a file that was read, in the same way."""
    found = []
    for name, value in given.items():
        inner = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
        found += written_keys(inner, f"{prefix}{name}.") if isinstance(inner, dict) else [prefix + name]
    return found
