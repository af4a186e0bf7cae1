"""Draw the header line of the screen."""

from __future__ import annotations

from rich.text import Text

from amgs.types import StoreStatus
from amgs_app.render.canvas import Canvas, Figure, Piece, clean, ink
from amgs_app.render.format import count, minute, share
from amgs_app.render.glyphs import HeaderPart, facts_line


def header(
    canvas: Canvas,
    *,
    status: StoreStatus | None = None,
    model: str = "",
    live: bool = True,
    threshold: float | None = None,
    recording: bool = False,
    sample_time: bool = False,
    read_only: bool = False,
) -> Text:
    """Draw one line: store, counts, model, time, Brier score, and whether the screen is live."""
    sheet = Figure(canvas.sized(canvas.width, 1))
    palette = sheet.palette
    muted, plain, strong = ink(palette.muted), ink(palette.text), ink(palette.text, bold=True)
    state: tuple[Piece, ...] = (
        ("● live", ink(palette.good, bold=True)) if live else ("◂ past", ink(palette.warn, bold=True)),
    )
    if read_only:
        state = (("read-only ", ink(palette.warn, bold=True)), *state)
    facts = [HeaderPart(0, (("amgs", ink(palette.accent, bold=True)),))]
    if status is not None:
        name = clean(status.path).replace("\\", "/").rsplit("/", 1)[-1]
        total = sum(status.blocks.get(kind, 0) for kind in ("raw", "consolidated"))
        facts += [
            HeaderPart(4, ((name, plain),)),
            HeaderPart(2, ((count(total), strong), (" blocks", muted))),
            HeaderPart(3, ((count(status.blocks.get("raw", 0)), strong), (" raw", muted))),
            HeaderPart(8, ((count(status.edges), plain), (" edges", muted))),
        ]
    if threshold is not None:
        facts.append(HeaderPart(9, (("θ ", muted), (share(threshold), plain))))
    if model:
        facts.append(HeaderPart(5, ((clean(model), plain),)))
    if status is not None:
        hour = minute(status.now)
        facts.append(HeaderPart(7, ((f"{hour} sample time" if sample_time else hour, muted),)))
        if status.brier is not None:
            facts.append(HeaderPart(6, (("Brier ", muted), (share(status.brier), plain))))
    if recording:
        state = (("◉ rec ", ink(palette.readable(palette.bad, palette.panel), bold=True)), *state)
    facts.append(HeaderPart(1, state))
    facts_line(sheet, 0, facts, gap=2 if canvas.width < 100 else 3, x=1)
    return sheet.render()
