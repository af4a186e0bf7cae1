"""F1: what the focused pane is for, every key that works there, and how to go on."""

from __future__ import annotations

from textual.binding import ActiveBinding
from textual.content import Content

from amgs_tui.listings import LISTINGS
from amgs_tui.panes.base import Pane, SiftedPane
from amgs_tui.widgets.keybar import sign

GENERAL = """\
One block is selected at a time, and every pane shows it. Every action is a verb: the keys, the command line
(:), the palette (ctrl+p), `amgs shell` and scripts all do the same thing. Long actions show their progress
in the line above the keys and stop with esc."""

ROWS = """\
F shows only some: a word of their texts, field:word, field=3, field>0.5, and ! before a term for what has it
not; all terms must hold, a blank line shows all rows again. The fields: {fields}. O orders them by {sorts}. Both
stay with the layout."""


def help_page(pane: Pane | None, bindings: dict[str, ActiveBinding]) -> Content:
    """The help of a pane (None: of the program) as one page."""
    pieces: list[str | tuple[str, str]] = []
    if pane is not None:
        pieces += [pane.PURPOSE.strip().replace("\n", " "), "\n"]
        own = [active for active in bindings.values() if active.node is pane]
        own.sort(key=lambda active: not active.binding.show)  # what the key bar shows comes first
        pieces += [("\nKeys of this pane\n", "bold $accent"), *_table(own)]
    if isinstance(pane, SiftedPane) and pane.NAME in LISTINGS:
        told = ROWS.format(fields=", ".join(pane.listing.fields), sorts=", ".join(pane.listing.sorts))
        pieces += [("\nIts rows\n", "bold $accent"), told.replace("\n", " "), "\n"]
    rest = [active for active in bindings.values() if active.node is not pane and active.binding.description]
    pieces += [("\nKeys everywhere\n", "bold $accent"), *_table(rest)]
    pieces += [("\nThe workstation\n", "bold $accent"), GENERAL.replace("\n", " ")]
    return Content.assemble(*pieces)


def _table(bindings: list[ActiveBinding]) -> list[tuple[str, str]]:
    """Keys and what they do; the keys of one action on one line."""
    keys: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for active in bindings:
        binding = active.binding
        if binding.system or not binding.id:
            continue
        keys.setdefault(binding.id, []).append(sign(binding.key))
        texts[binding.id] = binding.tooltip or binding.description
    pieces: list[tuple[str, str]] = []
    for name, text in texts.items():
        pieces += [
            (f"  {' '.join(keys[name]):<14} ", "bold $foreground"),
            (text, "$muted"),
            (f"  {name}\n", "$faint"),
        ]
    return pieces
