"""Why an entry of the working context is as it is: what it stands for, its score part by part, the decision."""

from __future__ import annotations

from collections.abc import Mapping

from amgs.text.plural import plural
from amgs_app.render.canvas import Piece, Region, clean, ink
from amgs_app.render.empty_state import notice_in
from amgs_app.render.format import count, milliseconds, share, short_id, signed
from amgs_app.render.glyphs import bar, wrap
from amgs_focus.views import EntryExplanation

LEAST_PART = 0.005
"""Parts of a score below this are counted, not named: they would be written as zero."""
LEAST_LINES = 3
"""Free lines from which the parts of a score have a line each."""
MOST_BAR = 24
PART_WORDS: Mapping[str, str] = {
    "question": "the search for the question",
    "question_words": "words of the question",
    "question_best": "most of those words",
    "question_meaning": "meaning of the question",
    "asked": "a question is asked",
    "open": "it is tokens now",
    "level": "level of detail",
    "width": "length of the span",
    "far_prose": "far back, in prose",
    "near_prose": "near the end, in prose",
    "far_code": "far back, in code",
    "near_code": "near the end, in code",
    "similarity": "like the latest text",
    "lexical": "words of the latest text",
    "recency": "how late it stands",
    "bridge": "linked to an open span",
}
"""What the parts of a score are, in words."""


def inspect(
    region: Region, explanation: EntryExplanation | None, selected: int | None, names: Mapping[str, str]
) -> None:
    """Everything behind one entry, from the most telling down to what the region has room for."""
    palette = region.palette
    muted = ink(palette.muted)
    if explanation is None:
        region.rule(0, "why" if selected is None else f"why #{selected}")
        notice_in(
            region.part(0, 1),
            "No entry is chosen",
            ("focus why 3",),
            "Choose one to see what it covers, what was decided about it and what would change that.",
        )
        return
    entry = explanation.entry
    number = f" #{selected}" if selected is not None else ""
    region.rule(0, f"why{number}  {entry.node}", _state(explanation), strong=True)
    origin, *told = _told(region, explanation, names)
    width = region.width - 2
    room = region.height - 1
    would = wrap(explanation.would, max(8, width), 3) if explanation.would else []
    free = room - 1 - len(told) - len(would)
    parts = _parts(region, explanation, free - 1)
    quote = wrap(f"“{clean(explanation.text)}”", max(8, width), max(1, min(4, free - len(parts))))
    lines: list[list[Piece]] = [origin]
    lines.extend([(line, ink(palette.text, italic=True))] for line in quote)
    lines.extend([*parts, *told])
    lines.extend([(line, muted)] for line in would)
    if len(lines) > room:
        # The text goes last into a narrow inspector: the numbers are what is asked for.
        del lines[2 : 2 + min(len(quote) - 1, len(lines) - room)]
    for row, pieces in enumerate(lines[:room], start=1):
        region.pieces(1, row, pieces, width=width)


def _state(explanation: EntryExplanation) -> str:
    entry = explanation.entry
    told = [
        word
        for word, holds in (
            ("pinned", entry.pinned),
            ("forbidden", entry.forbidden),
            ("tail", entry.protected),
            ("polished", entry.polished),
        )
        if holds
    ]
    return " · ".join([*told, f"unchanged for {plural(entry.residency, 'refocus', 'refocuses')}"])


def _parts(region: Region, explanation: EntryExplanation, room: int) -> list[list[Piece]]:
    """The score and its parts: one line each with a bar where there is room, else all of them in one line.

    The largest come first. What has no line of its own is summed up in the last one, so that the lines add up.
    """
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    score = explanation.score
    total: list[Piece] = [("score ", muted), (signed(score), ink(palette.heat(1.0 if score >= 0 else -1.0), bold=True))]
    if explanation.entry.inherited:
        total.append((" handed down when its group was opened or closed; not scored by itself yet", muted))
        return [total]
    ordered = sorted(explanation.parts, key=lambda part: -abs(part[1]))
    telling = [part for part in ordered if abs(part[1]) >= LEAST_PART] or ordered[:3]
    if room <= LEAST_LINES:
        for at, (name, value) in enumerate(telling):
            total += [(" = " if at == 0 else " ", muted), (f"{_words(name)} ", muted), (signed(value), plain)]
        if len(telling) < len(ordered):
            total.append((f" and {len(ordered) - len(telling)} near 0", muted))
        return [total]
    shown = ordered if len(ordered) < room else telling[: room - 2]
    rest = ordered[len(shown) :]
    rows = [(_words(name), value) for name, value in shown]
    rows += [(f"{len(rest)} more", sum(value for _, value in rest))] if rest else []
    widest = max((len(name) for name, _ in rows), default=0)
    half = max(0, min(MOST_BAR, (region.width - widest - 12) // 2))
    most = max((abs(value) for _, value in rows), default=0.0) or 1.0
    lines = [total]
    for name, value in rows:
        drawn = bar(value / most, half, region.symbols) if value >= LEAST_PART else ""
        # to the left in whole cells: the signs for parts of a cell begin at its left edge
        cells = max(1, round(-value / most * half)) if value <= -LEAST_PART and half else 0
        whole = bar(1.0, cells, region.symbols) if cells else ""
        left = whole.rjust(half)
        heat = ink(palette.heat(1.0 if value >= 0 else -1.0))
        line: list[Piece] = [(f"  {name:<{widest}} ", muted), (f"{signed(value):>5} ", plain)]
        line += [(left, heat), ("│", muted), (drawn, heat)]
        lines.append(line)
    return lines


def _words(name: str) -> str:
    """What a part of a score is."""
    return PART_WORDS.get(name) or clean(name).replace("_", " ")


def _told(region: Region, explanation: EntryExplanation, names: Mapping[str, str]) -> list[list[Piece]]:
    """What it is; the decision; what it would cost; what was measured."""
    palette = region.palette
    muted, plain, strong = ink(palette.muted), ink(palette.text), ink(palette.text, bold=True)
    entry = explanation.entry
    kind = "tokens" if entry.level == 0 else "gist"
    origin = _origin(explanation, names)
    lines: list[list[Piece]] = [
        [
            (f"L{entry.level} {kind}", ink(palette.accent, bold=True)),
            (f"  {count(entry.start)}–{count(entry.end - 1)}", plain),
            (f" ({plural(entry.end - entry.start, 'token')} in {entry.cost})", muted),
            (f"  ← {origin}" if origin else "", ink(palette.part_similarity)),
        ]
    ]
    told = wrap(explanation.reason_text, max(8, region.width - 2), 3 if region.height >= 12 else 1)
    lines += [[(line, strong)] for line in told]
    costs: list[Piece] = []
    if explanation.expand_cost is not None:
        time = f" ≈ {milliseconds(explanation.expand_ms)}" if explanation.expand_ms > 0 else ""
        costs += [
            ("▲ ", ink(palette.heat_high)),
            (f"{explanation.expand_cost:+d} tok{time}   ".replace("-", "−"), plain),
        ]
    if explanation.collapse_cost is not None:
        costs += [("▽ ", ink(palette.heat_low)), (f"{explanation.collapse_cost:+d} tok   ".replace("-", "−"), plain)]
    if not costs:
        costs = [("neither expands nor collapses   ", muted)]
    if explanation.cooldown:
        costs.append((f"cooldown {explanation.cooldown}   ", ink(palette.warn)))
    costs.append((f"τ +{share(explanation.tau_expand)} −{share(explanation.tau_collapse)}", muted))
    lines.append(costs)
    far = explanation.keeping.distances if explanation.keeping is not None else None
    if far is not None:
        lines.append(
            [
                ("from its tokens ", muted),
                (f"{far[2]:.2f}", ink(palette.good if far[2] < far[1] else palette.bad, bold=True)),
                (f" nats, was {far[1]:.2f}, neighbour {far[0]:.2f}", muted),
            ]
        )
    found = explanation.measurement
    if found is not None:
        good = palette.good if found.gain > 0 else palette.bad
        lines.append(
            [
                ("measured ΔNLL ", muted),
                (signed(found.gain), ink(good, bold=True)),
                (f" ±{share(found.error)} nats/tok over {found.horizon}", muted),
                *([(f", the gist saves {signed(found.saved)}", plain)] if found.saved is not None else []),
            ]
        )
    return lines


def _origin(explanation: EntryExplanation, names: Mapping[str, str]) -> str:
    """The blocks an entry came from, the first by name."""
    told: list[str] = []
    for source in explanation.sources:
        known = names.get(source.source or "", "") or source.label
        name = known or (short_id(source.source) if source.source else source.kind)
        if name not in told:
            told.append(clean(name))
    if not told:
        return ""
    return told[0] + (f" and {len(told) - 1} more" if len(told) > 1 else "")
