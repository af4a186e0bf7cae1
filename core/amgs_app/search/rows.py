"""How searches and explanations are shown, and the names of a hit's features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.text.words import plural
from amgs.types import COMPONENTS
from amgs_app.render.catalogue import entry, table_of
from amgs_app.render.format import describe_answer, describe_layers
from amgs_app.render.glyphs import HOLDS_SIGNS, holds_sign
from amgs_app.render.sheet import ResultTable, cut, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs.types import Explanation, SearchResult
    from amgs.types.retrieval import MinimumChange, Verdict
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import SearchList
    from amgs_app.session import Operator


def _draw_result(operator: Operator, result: SearchResult, canvas: Canvas) -> Text:
    from amgs_app.render.candidates import list_hits, search
    from amgs_app.render.catalogue import places

    every = list_hits(result)
    left = every.keep(places(operator, "frame", every.fields))
    return search(result, canvas, left, left.place_of(operator.selection)).render()


@entry(figure=_draw_result)
def search_result(result: SearchResult) -> ResultTable:
    from amgs_app.render.candidates import list_hits

    notes = [describe_layers(result.layers)]
    notes += [f"{reading.written!r} was read as {reading.read_as!r}" for reading in result.readings]
    notes += describe_answer(result)
    title = f"{plural(len(result.hits), 'hit')} for {result.query!r}"
    return replace(list_hits(result).table(), title=title, notes=tuple(filter(None, notes)))


@entry()
def search_list(result: SearchList) -> ResultTable:
    rows = [
        (past_search.number, past_search.at, past_search.query, past_search.places, past_search.pool)
        for past_search in result.searches
    ]
    notes = ("`why BLOCK --search NUMBER` explains a block in a search.",) if rows else ()
    return sheet(plural(len(rows), "past search", "past searches"), "#:n at:at query* hits:n of:n", rows, notes)


_PASSED: Mapping[Verdict, bool] = {"passed": True, "missed": False}
"""Whether a block passed a layer, by the layer's verdict; other verdicts mean that the layer was not asked."""
"""Weights of the evidence that an explanation names."""


def _render_layers(result: Explanation, canvas: Canvas, now: datetime) -> RenderableType:
    """Return an explanation with every layer's full reason."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    del now
    table = table_of(result)
    layers = Table.grid(padding=(0, 1))
    for layer in result.layers:
        sign = Text.styled(*holds_sign(_PASSED.get(layer.verdict), canvas.palette))
        value = "" if layer.value is None else f"{layer.value:.2f}"
        needed = "" if layer.needed is None else f"(needs {layer.needed:.2f})"
        layers.add_row(sign, Text(layer.layer, style="bold"), value, needed, Text(layer.because))
    notes = [Text(note) for note in table.notes]
    return Group(Text(f"{table.title}\n", style="bold"), layers, Text(""), *notes)


def _rank(result: Explanation) -> str:
    verdict = "in" if result.admitted else f"dropped out at {result.fell_at}"
    rank = f", rank {result.rank} of {result.of}" if result.rank else ""
    return f"“{cut(result.block.title, 40)}”: {verdict}{rank}"


def _or_budget(result: Explanation) -> str:
    """Return a phrase that larger budgets were tried in vain too, if they were."""
    over = result.candidate is not None and result.candidate.fate == "over_budget"
    return "and no budget up to twice as large " if over else ""


def _describe_minimum(change: MinimumChange) -> str:
    """Describe which minimum of its frame excludes a block, and which value would admit it."""
    reason = f"not its weights keep it out, but {change.frame}'s `{change.minimum}` of {change.value:.2f}: "
    if change.lowered is None:
        return reason + "even below it, others would be taken"
    return f"{reason}`frame define {change.frame} {change.minimum}={change.lowered:.2f}` would admit it"


@entry(page=_render_layers, sentence=_rank)
def explanation(result: Explanation) -> ResultTable:
    asked = f"{result.query!r} in {result.frame}" if result.frame else repr(result.query)
    verdict = "admitted" if result.admitted else f"dropped out at {result.fell_at}"
    rows = [
        (HOLDS_SIGNS[_PASSED.get(layer.verdict)], layer.layer, layer.verdict, layer.value, layer.needed, layer.because)
        for layer in result.layers
    ]
    rank = f"rank {result.rank} of {result.of}, {result.places} admitted"
    notes = [rank if result.admitted else f"{rank}; {result.because}"]
    if result.candidate is not None:
        notes.append(describe_evidence(result.candidate.evidence))
    if result.form:
        beside = f"; its neighbours and the rest of its conversation count {result.gate:.0%}"
        notes.append(f"a {result.form}{beside if result.gate > 0 else ''}")
    if result.budget_change is not None:
        increase = plural(result.budget_change, "more token", "more tokens")
        notes.append(f"{increase} in the budget would admit it")
    if result.change is not None:
        wanted = ",".join(f"{getattr(result.change.weights, name):.4f}" for name in COMPONENTS)
        notes.append(
            f"--weights {wanted} would admit it at rank {result.change.rank} (moved by {result.change.distance:.3f})"
        )
    elif result.as_of is not None:
        notes.append(f"as it was at {result.as_of:%Y-%m-%d %H:%M}, from what was stored with the assembly")
    elif result.minimum_change is not None:
        notes.append(_describe_minimum(result.minimum_change))
    elif result.budget_change is None and result.fell_at in ("score", "selection"):
        notes.append(f"no change of weights {_or_budget(result)}was found that admits it")
    title = f"{result.block.title}: {verdict} for {asked}"
    return sheet(title, "_ layer verdict value:score needed:score because*", rows, notes)


PARTS: Mapping[str, str] = {
    "words": "the words of the question",
    "opening": "the words of the question in its opening",
    "coverage": "how much of the question it holds",
    "window": "the words of it and its neighbours together",
    "neighbour_words": "the words of its neighbours",
    "meaning": "its meaning",
    "asked_of": "it was said by somebody the question names",
    "no_answer": "it asks the same, or says that it does not know",
    "other_role": "the question's I or you means another speaker",
    "written_then": "it was written on a day the question names",
    "told_day": "it tells of a day the question names",
    "latest": "it is later than others, and the question asks what holds",
    "speaker_words": "the words that its speaker said before",
    "episode_words": "the words of its conversation",
    "asking": "how much of it is questions",
    "after_question": "it follows a question",
    "turn_length": "its length among turns",
    "part_length": "its length among parts of documents",
    "flow": "links from other good matches",
    "shared_names": "names that it shares with the best hits",
}
"""Descriptions of the features of `amgs.retrieval.features`."""

_NOTHING = 0.05
"""Parts below this are not named: in the linear score, whose scale is 2.2, they change a similarity by half a
hundredth.
"""


def name_part(name: str) -> str:
    """Return a feature's description; an unknown feature, as from a newer server, keeps its name."""
    return PARTS.get(name, name)


def describe_evidence(evidence: Sequence[tuple[str, float]]) -> str:
    """Describe the relevant parts of a score, strongest first, and the sum of the others; "" without evidence."""
    if not any(value for _, value in evidence):
        return ""
    parts = sorted((part for part in evidence if abs(part[1]) >= _NOTHING), key=lambda part: -abs(part[1]))
    phrases = [f"{name_part(name)} {value:+.2f}" for name, value in parts]
    rest = len(evidence) - len(parts)
    if rest:
        left = round(sum(value for _, value in evidence) - sum(value for _, value in parts), 2)
        others = "the other part" if rest == 1 else f"the other {rest} parts together"
        phrases.append(f"{others} {left:+.2f}" if left else f"{others} nothing")
    return "what speaks for it: " + ", ".join(phrases)
