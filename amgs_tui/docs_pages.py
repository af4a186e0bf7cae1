"""The pages that are made from the program: `python -m amgs_tui.docs_pages docs build/docs` writes them anew."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from amgs_app.reference import api_page, glossary, manual
from amgs_app.settings import every_setting
from amgs_app.terminal import exit_codes
from amgs_tui import keys_page

_WORDS = "## Words on this screen\n\n"
_SETTINGS = "## Every setting\n\n"
_EXIT_CODES = "## Exit codes\n\n"
_TITLES = {
    "memory": "Memory",
    "focus": "Working context",
    "forgetting": "Forgetting in a lifetime",
    "model": "Models",
    "paths": "Paths",
    "screen": "Screen",
}
"""Headings of the settings by the first word of their keys."""


def built(folder: Path) -> Iterator[tuple[Path, str]]:
    """The pages that are built and not kept: every public name, and the man page."""
    yield folder / "api.md", api_page.page()
    yield folder / "amgs.1", manual.page()


def pages(docs: Path) -> Iterator[tuple[Path, str]]:
    """Each kept page with what it should hold. Of pages that are written by hand a part is made, the rest stays."""
    yield docs / "keys.md", keys_page.page()
    yield docs / "glossary.md", glossary.page()
    yield docs / "settings.md", _with_part(docs / "settings.md", _SETTINGS, settings_tables())
    yield docs / "scripting.md", _with_part(docs / "scripting.md", _EXIT_CODES, exit_codes.table())
    for pane, words in glossary.SCREEN.items():
        path = docs / "panes" / f"{pane}.md"
        yield path, _with_part(path, _WORDS, glossary.table(words))


def settings_tables() -> str:
    """A table of keys, defaults and sentences for each section of the settings."""
    rows = dict.fromkeys(_TITLES, "")
    for each in every_setting():
        told = f"| `{each.key}` | `{json.dumps(each.default)}` | {each.description} |\n"
        rows[each.key.split(".")[0]] += told
    head = "| key | default | what it is |\n| --- | --- | --- |\n"
    return "\n".join(f"### {_TITLES[section]}\n\n{head}{table}" for section, table in rows.items())


def _with_part(path: Path, heading: str, part: str) -> str:
    """A page with the tables below a heading, and what heads each of them, replaced; what follows them stays."""
    before, found, after = path.read_text(encoding="utf-8").partition(heading)
    assert found, f"{path} has no {heading!r}"
    tables = re.match(r"(?:(?:### .*)?\n|\|.*\n)*", after)
    rest = after[tables.end() :] if tables else after
    return before + heading + part + (f"\n{rest}" if rest else "")


if __name__ == "__main__":
    for page, text in (*pages(Path(sys.argv[1])), *built(Path(sys.argv[2]))):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
