"""The figures: pure functions from a frozen result and a Canvas to a Rich Text of exactly `canvas.width`
columns and `canvas.height` lines. The panes and the headless snapshots draw with the same ones.

    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.render.figures import frame
    text = frame.frame(result, Canvas(118, 36, palette, "braille"))

Common options: `selected` (a block id or an index) marks a line and keeps it in view; `titles` names
blocks by id; `now` is the instant that ages are counted from. No figure reads a clock, keeps a state or changes what it
is given. None, or an empty result, draws what the pane is for and how to fill it.

header       header(canvas, *, status, model, live, threshold): one line over everything
overview     overview(status, canvas, *, operations, frame, focus): the loop with live counts
inbox        inbox(blocks, canvas, *, now, selected, total, before, oldest)
plan         plan(result, canvas, *, selected, edge, titles): a consolidation plan, or a draft with its
             corrections, as a difference
block        block(item, canvas, *, now, edges, titles): one block on a card
frame        frame(result, canvas, *, selected, show, text_offset); show: both, candidates or text
             search(result, canvas, *, selected)
             candidate(item, weights, canvas): why one candidate has its score and its fate
graph        neighbourhood(result, canvas, *, selected, now); stats(result, canvas)
decay        decay(canvas, *, now, curve, forecast, categories, selected)
             forecast(result, canvas)
calibration  calibration(result, canvas, *, now, outcomes, titles)
focus        focus(view, canvas, *, axis, zoom, offset, selected, why, titles); axis: lifetime, log or context
             why(explanation, canvas, *, titles); decoded(view, canvas)
             entry_at(view, canvas, x, *, axis, zoom, offset): the entry in a column
             offset_for(view, selected, axis, zoom): the offset (a lifetime token) that centres an entry
empty_state  notice(canvas, title, commands, sentence): nothing to show yet
"""

from __future__ import annotations
