"""The pages that are made from the program: `python -m scripts.docs_pages docs build/docs` writes them anew."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amgs_app import reference
from amgs_app.settings import every_setting
from amgs_app.terminal import output
from amgs_tui.keys import ACTS, EVERYWHERE, EXCEPTIONS
from amgs_tui.panes.by_key import PANE_TYPES
from amgs_tui.panes.lists import ListPane
from amgs_tui.widgets.bars import TITLES, sign
from scripts import api_page, manual

_KEYS = """\
# Keys

`?` (or F1) shows the keys of the focused pane, `?` again the [glossary](glossary.md), and `ctrl+p` finds any action by
what it does. No key conflicts with those that a terminal or tmux reserves. Each action has an id, with
which the settings can give it another key:

```toml
[screen.keys]
"focus.step" = "J"
"app.find" = "ctrl+f"
```

A key is ignored, and named at startup, if another action of the same pane already has it, if terminals
reserve it or if it does not exist; the others work.

A key that nothing uses may run a command of your own, with `|` and `@1` as in the command line. One that ends in `…`
is put into the command line, to be completed:

```toml
[screen.commands]
"ctrl+g" = "graph path @1 @2"
"ctrl+n" = "frame assemble PLAN --query …"
```

Help and palette list them under your own line. `H` lists what your keys have run, as it would be typed.

In tmux, `esc` followed quickly by another key is read as alt with that key. `set -sg escape-time 10` in `~/.tmux.conf`
shortens the time that tmux waits for it.
"""
_TERMS = "## Terms\n\n"
_WORDS = "## Words on this screen\n\n"
_SETTINGS = "## Every setting\n\n"
_EXIT_CODES = "## Exit codes\n\n"
_TITLES = {
    "memory": "Memory",
    "focus": "Working context",
    "forgetting": "Forgetting in a lifetime",
    "model": "Models",
    "paths": "Paths",
    "store": "Store",
    "gateway": "Gateway",
    "screen": "Screen",
}
"""Headings of the settings by the first word of their keys."""


def build_pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """The pages that are built and not kept: every public name, and the man page."""
    yield folder / "api.md", api_page.page()
    yield folder / "amgs.1", manual.page()


def pages(docs: Path) -> Iterator[tuple[Path, str]]:
    """Each kept page with what it should hold. Of pages that are written by hand a part is made, the rest stays."""
    yield docs / "keys.md", keys_page()
    yield docs / "glossary.md", _with_part(docs / "glossary.md", _TERMS, reference.table(reference.TERMS, "term"))
    yield docs / "settings.md", _with_part(docs / "settings.md", _SETTINGS, settings_tables())
    yield docs / "scripting.md", _with_part(docs / "scripting.md", _EXIT_CODES, output.table())
    for pane, words in reference.SCREEN.items():
        path = docs / "panes" / f"{pane}.md"
        yield path, _with_part(path, _WORDS, reference.table(words))


def keys_page() -> str:
    """docs/keys.md, from the bindings."""
    parts = [_KEYS, _grammar(), _keys_table("Everywhere", EVERYWHERE), _keys_table("In lists", ListPane.BINDINGS)]
    shared = {binding.id for binding in ListPane.BINDINGS}
    for kind in PANE_TYPES:
        own = [binding for binding in kind.BINDINGS if binding.id not in shared]
        parts.append(_keys_table(TITLES[kind.NAME][0], own))
    return "\n".join(parts)


def _grammar() -> str:
    """The keys that mean the same in every pane, and those that do not."""
    labels: dict[str, str] = {}
    for kind in PANE_TYPES:
        for binding in kind.BINDINGS:
            labels[binding.id] = f"{TITLES[kind.NAME][0]}: {binding.description}"
    lines = ["## What a key means", "", "The same in every pane:", "", "| key | what it does | where |"]
    lines.append("| --- | --- | --- |")
    for key, (act, names) in ACTS.items():
        where = "; ".join(labels[name] for name in names) or "everywhere"
        lines.append(f"| `{sign(key)}` | {act} | {where} |")
    lines += ["", "With these exceptions:", "", "| action | why |", "| --- | --- |"]
    lines += [f"| {labels[name]} | {why} |" for name, why in EXCEPTIONS.items()]
    return "\n".join(lines) + "\n"


def _keys_table(title: str, bindings: list[Any]) -> str:
    lines = [f"## {title}", "", "| key | what it does | id |", "| --- | --- | --- |"]
    for binding in bindings:
        keys = " ".join(f"`{sign(key)}`" for key in binding.key.split(","))
        lines.append(f"| {keys} | {binding.tooltip} | `{binding.id}` |")
    return "\n".join(lines) + "\n"


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
    for page, text in (*pages(Path(sys.argv[1])), *build_pages(Path(sys.argv[2]))):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
