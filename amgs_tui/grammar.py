"""Meaning of each key: the same in every pane, with exceptions and their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from amgs_tui.wing_panes import wing_panes

_ACTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "a": ("compare with another way of doing it", ("frame.compare", "conversation.compare")),
        "b": ("change how much: a budget, a number of bins", ("calibration.bins", "conversation.budget")),
        "c": (
            "carry out: what is drafted, or the pane's own step",
            ("inbox.consolidate", "decay.make_so", "calibration.calibrate"),
        ),
        "d": ("draft a change, or discard the draft", ("inbox.plan", "calibration.drop")),
        "e": ("ask a question", ("frame.ask", "conversation.ask")),
        "f": (
            "choose which one is shown",
            ("frame.choose", "graph.filter", "calibration.groups", "conversation.strategy"),
        ),
        "i": ("put something new in", ("inbox.ingest", "graph.add_edge")),
        "m": ("measure", ("focus.measure", "overview.measure")),
        "n": ("go on to the next step", ("focus.next", "overview.next")),
        "o": ("open", ("frame.open", "focus.open", "conversation.choose")),
        "s": ("where it came from", ("inbox.sources", "conversation.exchanges")),
        "u": (
            "say yes: useful, right, accepted",
            ("frame.useful", "graph.confirm", "calibration.useful", "focus.force"),
        ),
        "v": (
            "view it another way",
            ("frame.view", "graph.communities", "decay.view", "calibration.view", "conversation.view"),
        ),
        "w": ("explain why", ("frame.why", "conversation.why")),
        "x": (
            "say no: useless, wrong, left out",
            ("inbox.leave_out", "frame.useless", "graph.cut", "calibration.useless", "focus.without"),
        ),
        "r": ("look again", ()),
        "slash": ("find", ()),
        "p": ("read the selected block", ()),
        "K": ("keep for later", ("conversation.keep",)),
        "E": ("type the export to a file", ()),
        "L": ("go to the live end", ("focus.live", "conversation.live")),
        "U": ("undo the last change", ("calibration.undo", "overview.undo")),
        "enter": (
            "open or read what the cursor is on",
            ("inbox.read", "frame.read", "decay.read", "calibration.read", "overview.open", "conversation.read"),
        ),
        "left": (
            "walk what lies beside",
            (
                "inbox.edge_before",
                "frame.part_before",
                "graph.edge_before",
                "decay.sooner",
                "calibration.bin_before",
                "focus.left",
                "overview.station_before",
            ),
        ),
        "right": (
            "walk what lies beside",
            ("inbox.edge", "graph.edge", "decay.later", "calibration.bin", "focus.right", "overview.station"),
        ),
        "plus": ("more of it", ("inbox.surer", "frame.heavier", "graph.heavier", "focus.zoom_in")),
        "minus": ("less of it", ("inbox.less_sure", "frame.lighter", "graph.lighter", "focus.zoom_out")),
        "0": ("as it was", ("inbox.as_proposed", "frame.unweigh")),
        "left_square_bracket": ("another stretch of time", ("decay.fewer", "focus.earlier", "conversation.earlier")),
        "right_square_bracket": ("another stretch of time", ("decay.more", "focus.later", "conversation.later")),
        "backspace": ("go back", ("graph.back",)),
        "left_curly_bracket": ("another stretch, in large steps", ("conversation.earlier_10",)),
        "right_curly_bracket": ("another stretch, in large steps", ("conversation.later_10",)),
        "S": ("set how it runs", ("focus.set",)),
        "equals_sign": ("more of it", ("inbox.surer", "frame.heavier", "graph.heavier", "focus.zoom_in")),
    }
)

ACTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        key: (act, (*names, *chain.from_iterable(wing.acts.get(key, ()) for wing in wing_panes().values())))
        for key, (act, names) in _ACTS.items()
    }
)
"""By key: its meaning, and the actions of panes that have it.

A key listed with one pane only, such as r and p, has that meaning in all others too. Other keys may be used freely
within a pane.
"""

EXCEPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "inbox.review": "the queue of findings is the inbox seen by what contradicts what",
        "frame.missed": "the measure of a frame is the fact that it lacks",
        "graph.walk": "to open a neighbour is to stand on it",
        "graph.way": "the path says why two blocks belong together",
        "decay.what_if": "w asks what would be, as why asks what is",
        "focus.branches": "B begins a branch, b goes to one",
        "focus.diff": "nothing is drafted there; d tells branches apart",
        "focus.pin": "a span has no block of its own to read; enter explains it",
        "focus.side": "where there is room for one side, the next thing to see is the other",
        "focus.answer": "the answer is asked for what it depends on",
        "focus.numbers": "the window is text; w shows the working behind it",
        "focus.forbid": "p pins, f forbids; x leaves a block out and answers again",
        "focus.why": "what lies behind a span is why it is there",
        "focus.resume": "the pane looks again by itself after each step",
        "conversation.restore": "the pane looks again by itself; r restores",
        "conversation.single": "what is measured there stands beside each message",
        "frame.part": "the weights lie beside each other",
        "inbox.category": "a draft has no question; e edits its category",
        "conversation.summary": "a conversation has no settings of its own; S reads its summary",
        **dict(chain.from_iterable(wing.exceptions.items() for wing in wing_panes().values())),
    }
)
"""By the id of an action that has the key of another meaning: the reason."""
