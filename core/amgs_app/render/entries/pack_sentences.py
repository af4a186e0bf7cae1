"""What each sentence of packs is worth for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types.pack_sentences import PackSentences
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.session.operator import Operator


def _drawn(operator: Operator, result: PackSentences, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_sentences import sentences

    del operator
    return sentences(result, canvas)


@entry(figure=_drawn)
def pack_sentences(result: PackSentences) -> ResultTable:
    kept = sum(one.kept for one in result.sentences)
    title = (
        f"{kept:,} of {plural(len(result.sentences), 'sentence')} of {', '.join(result.packs) or 'no pack'}, "
        f"{result.tokens:,} of {result.budget:,} tokens"
    )
    rows = [
        ("in" if one.kept else "out", one.worth, one.tokens, one.block, one.title, " ".join(one.text.split()))
        for one in result.sentences
    ]
    return sheet(title, "fate worth:score tokens:n id:id title text*", rows)
