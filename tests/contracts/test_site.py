"""The documentation builds as a site: every page has its place, every link and every anchor leads somewhere."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def built(configuration: Path, into: Path) -> list[str]:
    """What mkdocs warns of."""
    said: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logger = logging.getLogger("mkdocs")
    handler = Collect(logging.WARNING)
    logger.addHandler(handler)
    try:
        build(load_config(str(configuration), site_dir=str(into)))
    finally:
        logger.removeHandler(handler)
    return said


@pytest.fixture(autouse=True)
def _a_checkout() -> None:
    if subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("not a checkout")


def test_every_page_has_its_place_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    assert built(ROOT / "mkdocs.yml", tmp_path / "site") == []
    assert (tmp_path / "site" / "docs" / "concepts.html").is_file()
    assert "amgs.Memory" in (tmp_path / "site" / "docs" / "api.html").read_text(encoding="utf-8")
