"""docs/keys.md, made from the bindings."""

from __future__ import annotations

from typing import Any

from amgs_tui.grammar import ACTS, EXCEPTIONS
from amgs_tui.keys import EVERYWHERE
from amgs_tui.panes.by_key import PANE_TYPES
from amgs_tui.panes.lists import ListPane
from amgs_tui.widgets.keybar import sign
from amgs_tui.widgets.tabs import TITLES

HEAD = """\
# Keys

`?` (or F1) shows the keys of the focused pane, `?` again the [glossary](glossary.md), and `ctrl+p` finds any action by
what it does. No key conflicts with those that a terminal or tmux reserves. Each action has an id, with
which the settings can give it another key:

```toml
[screen.keys]
"focus.step" = "j"
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


def page() -> str:
    """The whole page."""
    parts = [HEAD, _grammar(), _section("Everywhere", EVERYWHERE), _section("In lists", ListPane.BINDINGS)]
    shared = {binding.id for binding in ListPane.BINDINGS}
    for kind in PANE_TYPES:
        bindings: list[Any] = list(kind.BINDINGS)
        own = [binding for binding in bindings if binding.id not in shared]
        parts.append(_section(TITLES[kind.NAME][0], own))
    return "\n".join(parts)


def _grammar() -> str:
    """The keys that mean the same in every pane, and those that do not."""
    labels: dict[str, str] = {}
    for kind in PANE_TYPES:
        bindings: list[Any] = list(kind.BINDINGS)
        for binding in bindings:
            labels[binding.id] = f"{TITLES[kind.NAME][0]}: {binding.description}"
    lines = ["## What a key means", "", "The same in every pane:", "", "| key | what it does | where |"]
    lines.append("| --- | --- | --- |")
    for key, (act, names) in ACTS.items():
        where = "; ".join(labels[name] for name in names) or "everywhere"
        lines.append(f"| `{sign(key)}` | {act} | {where} |")
    lines += ["", "With these exceptions:", "", "| action | why |", "| --- | --- |"]
    lines += [f"| {labels[name]} | {why} |" for name, why in EXCEPTIONS.items()]
    return "\n".join(lines) + "\n"


def _section(title: str, bindings: list[Any]) -> str:
    lines = [f"## {title}", "", "| key | what it does | id |", "| --- | --- | --- |"]
    for binding in bindings:
        keys = " ".join(f"`{sign(key)}`" for key in binding.key.split(","))
        lines.append(f"| {keys} | {binding.tooltip} | `{binding.id}` |")
    return "\n".join(lines) + "\n"
