"""The documentation as a site: mkdocs reads what is tracked in the checkout, README and CHANGELOG included.

mkdocs knows one folder of pages, and the documents link out of `docs/`: to the README, to pictures that tests make. So
the pages are laid out in a folder of their own, with the paths that they have in the checkout. The page of public names
is made from the program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parents[1]
PUBLISHED = (
    "*.md",
    "LICENSE",
    "docs",
    "tests/golden",
    "tests/wings",
    "themes",
    "constraints.txt",
    ":!sample_corpus",
    ":!*.py",
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lay the pages out beside the site that is built of them."""
    pages = Path(config.site_dir).with_name("pages")
    shutil.rmtree(pages, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PUBLISHED],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (pages / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, pages / name)
    sys.path.insert(0, str(ROOT))
    from scripts import api_page

    (pages / "docs" / "api.md").write_text(api_page.page(), encoding="utf-8")
    config.docs_dir = str(pages)
    return config
