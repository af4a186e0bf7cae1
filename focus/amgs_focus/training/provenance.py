"""What an exported checkpoint tells of how it was made: configuration, seed, the program's commit, hashes of texts.

It is metadata of the file and the last section of its card. Paths are cut to their names: they say nothing elsewhere.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_focus.training.corpus import TrainingCorpus
    from amgs_focus.training.run_config import RunConfig

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
        _git(
            folder, "ls-files", "--error-unmatch", "__init__.py"
        )  # not installed inside somebody else's repository
        return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*")
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN


def _git(folder: Path, *words: str) -> str:
    told = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=_WAIT
    )
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
