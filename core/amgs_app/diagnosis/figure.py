"""Figure of a diagnosis: the verdict, the steps down to where the fact was lost, and the fix with its side effects."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from amgs.text.words import plural
from amgs.types.diagnosis import Diagnosis, FixTrial
from amgs_app.render.canvas import Canvas, Figure, Piece, clean, ink, width_of
from amgs_app.render.glyphs import holds_sign, wrap
from amgs_app.terminal.themes import Palette

_MOVED = 5
"""Most changed answers that are named."""
_LONGEST = 12
"""Most lines of a text."""

Line = Sequence[Piece]


def diagnosis(result: Diagnosis, canvas: Canvas) -> Text:
    """Draw as much of a diagnosis as the canvas holds."""
    sheet = Figure(canvas)
    lines = lines_of(result, canvas.palette, max(canvas.width - 2, 1))
    shown = lines if len(lines) <= canvas.height else lines[: canvas.height - 1]
    for y, line in enumerate(shown):
        sheet.pieces(1, y, line, width=canvas.width - 2)
    if len(shown) < len(lines):
        note = f"… {plural(len(lines) - len(shown), 'more line')}"
        sheet.put(1, canvas.height - 1, note, ink(canvas.palette.muted), width=canvas.width - 2)
    return sheet.render()


def height(result: Diagnosis, canvas: Canvas) -> int:
    """Return the lines that the whole diagnosis needs on a canvas of this width."""
    return len(lines_of(result, canvas.palette, max(canvas.width - 2, 1)))


def lines_of(result: Diagnosis, palette: Palette, width: int) -> list[Line]:
    """Return the lines of a diagnosis, at most `width` cells wide."""
    good = result.cause == "in the context"
    style = ink(palette.good if good else palette.bad, bold=True)
    lines: list[Line] = [[(part, style)] for part in wrap(clean(result.verdict), width, _LONGEST)]
    lines.append([])
    names = max(len(step.step) for step in result.evidence)
    for step in result.evidence:
        head: list[Piece] = [
            holds_sign(step.holds, palette),
            (f" {step.step:<{names}}  ", ink(palette.text, bold=step.holds is False)),
        ]
        lines += _hanging(head, step.told, width, palette, strong=step.holds is False)
    if result.trial is not None:
        lines += [[], *_trial("Fix", result.trial, width, palette)]
    for other in result.others:
        lines += [[], *_trial("Not proposed", other, width, palette)]
    return lines


def describe_trial(trial: FixTrial) -> str:
    """Describe the trial of a fix: whether it works, and how many other answers it changes."""
    works = "works" if trial.works else "does not work"
    if not trial.questions:
        return f"{works}; no other question was asked" if trial.fix.applies else f"{works}; nothing else moves"
    return f"{works}; moves {len(trial.moved)} of {plural(trial.questions, 'other answer')}"


def _trial(title: str, trial: FixTrial, width: int, palette: Palette) -> list[Line]:
    """Return the lines of a fix with its effects on other answers."""
    proposed = title == "Fix"
    head: list[Piece] = [(f"{title}: ", ink(palette.accent if proposed else palette.muted, bold=proposed))]
    lines = _hanging(head, trial.fix.told, width, palette, strong=proposed)
    colour = palette.good if trial.works else palette.bad
    lines.append([("  ", None), (f"It {describe_trial(trial)}.", ink(colour))])
    if not trial.fix.applies:
        lines.append([("  It is up to whoever asks: nothing in the memory changes.", ink(palette.muted))])
    for answer in trial.moved[:_MOVED] if proposed else ():
        lost = f": loses {', '.join(map(clean, answer.lost[:2]))}" if answer.lost else ": begins otherwise"
        lines += _hanging([("  ↔ ", ink(palette.warn))], f"“{answer.question}”{lost}", width, palette)
    if proposed and len(trial.moved) > _MOVED:
        lines.append([(f"  … {len(trial.moved) - _MOVED} more", ink(palette.muted))])
    return lines


def _hanging(head: list[Piece], text: str, width: int, palette: Palette, *, strong: bool = False) -> list[Line]:
    """Return a text behind its head, with further lines indented below the first."""
    indent = sum(width_of(part) for part, _ in head)
    style = ink(palette.text if strong else palette.muted)
    if width - indent < 16:
        indent = 2
        rows = wrap(clean(text), max(width - indent, 1), _LONGEST)
        return [head, *([(" " * indent, None), (row, style)] for row in rows)]
    first, *more = wrap(clean(text), width - indent, _LONGEST) or [""]
    return [[*head, (first, style)], *([(" " * indent, None), (row, style)] for row in more)]
