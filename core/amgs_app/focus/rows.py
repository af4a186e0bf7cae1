"""Tables and sentences for results of the working context: opened, stepped, shown, explained, steered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs_app.focus.figure_window import Names, mark_of
from amgs_app.render.catalogue import entry
from amgs_app.render.format import UNTRAINED, WARNING, format_signed, milliseconds, nothing_alike, unheld
from amgs_app.render.rows import Line, RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_focus.records import Decision, NodeProvenance, SpanAbout, with_sign
from amgs_focus.views import ACTION_SIGNS, REASON_SENTENCES, EntryExplanation, EntryView, FocusView

if TYPE_CHECKING:
    from rich.text import Text

    from amgs_app.render.canvas import Canvas
    from amgs_app.results.focus import Measured, Opened, SettingChanged, Steered, Stepped
    from amgs_app.session import Operator
    from amgs_focus.dependence import AnswerDependence

_ENTRIES_SHOWN = 40
"""Entries shown on the screen; CSV and JSON have all."""
LEAST_SCORE = 0.005
"""Smaller scores would be printed as zero; they decided nothing and are left out."""
_BY_RULE = ("illegal_level", "protected_tail")
"""Reasons for a refusal that no score could have changed; these rows come last."""
PART_WORDS: Mapping[str, str] = {
    "question": "the search for the question",
    "question_words": "words of the question",
    "question_best": "most of those words",
    "question_meaning": "meaning of the question",
    "asked": "a question is asked",
    "open": "it is read word for word",
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
"""Parts of the lens's score, in words."""


def draw_view(operator: Operator, result: Any, canvas: Canvas) -> Text:
    """Draw the working context that a result is, contains, or belongs to."""
    from amgs_app.focus.figure import entry_holding, first_token, focus

    why = result if isinstance(result, EntryExplanation) else None
    depends = result if hasattr(result, "words") else None
    view = result if isinstance(result, FocusView) else getattr(result, "view", None)
    view = operator.engine.focus_view if view is None else view
    if view is None or not view.entries:
        return focus(None, canvas).render()
    block = getattr(depends, "block", None)
    place = entry_holding(view, block.index * view.block_size if block else first_token(view))
    if why is not None:
        place = why.entry.position
    elif not operator.engine.attached:
        why = operator.engine.focus.why(view.entries[place].node)
    return focus(view, canvas, selected=place, why=why, depends=depends).render()


# --- entries and decisions ----------------------------------------------------------------------------------


_DONE: Final = {"▲": "opened", "▽": "closed"}
Named = tuple[EntryView, str, str]
"""An entry, its text, and the name of the text it came from."""


def _state(entry: EntryView) -> str:
    states = {"pinned": entry.pinned, "shut": entry.forbidden, "latest": entry.protected}
    return " ".join(word for word, holds in states.items() if holds)


ENTRIES: Final = Rows[Named](
    "#:n span! reads! start:n? end:n? score:score? done~ reason? text* title*?"
    " state. level:n. tokens:n. cost:n. kept:n. gain:score. cooldown:n. rank:n.",
    lambda named: (
        named[0].position,
        str(named[0].node),
        "gist" if named[0].level else "words",
        named[0].start,
        named[0].end,
        named[0].score if abs(named[0].score) >= LEAST_SCORE else None,
        _DONE.get(mark_of(named[0])),
        "" if named[0].reason in ("applied", "below_threshold") else named[0].reason.replace("_", " "),
        " ".join(named[1].split()),
        named[2],
        _state(named[0]),
        named[0].level,
        named[0].end - named[0].start,
        named[0].cost,
        named[0].residency,
        named[0].delta_nll,
        named[0].cooldown,
        named[0].rank,
    ),
    key=lambda named: named[0].source,
    pane="focus",
)
LISTING: Final = ENTRIES.listing


def list_entries(view: FocusView) -> RowList[Named]:
    """List the entries of the window in order."""
    names = Names(view)
    named = tuple(
        zip(view.entries, view.texts, map(names.name_at, (entry.start for entry in view.entries)), strict=True)
    )
    title = (
        f"{view.branch}: {view.lifetime:,}-token lifetime held in {view.used:,} of {view.window:,} positions"
        f" ({view.model}); step {view.step:,}, {view.refocuses} refocuses"
    )
    notes = (
        f"“{view.text}”" if view.text else "",
        f"! {nothing_alike(view)}" if view.unanswered else "",
        f"! {WARNING}" if view.untrained else "",
        f"! {unheld(view)}" if view.unheld else "",
    )
    return ENTRIES.of(title, named, notes, digest=named[:_ENTRIES_SHOWN])


def _tell_view(result: FocusView) -> str:
    return f"{result.branch}: {result.lifetime:,}-token lifetime held in {result.used:,} of {result.window:,} positions"


@entry(figure=draw_view, sentence=_tell_view)
def focus_view(result: FocusView) -> RowList[Named]:
    return list_entries(result)


VERBS: Final = {"expand": "opened", "collapse": "closed"}
DECISIONS: Final = Rows[tuple[Decision, str]](
    "did! span! score:score why* tokens:n? text*?",
    lambda row: (
        f"{ACTION_SIGNS[row[0].kind]} {VERBS[row[0].kind]}" if row[0].applied else "refused",
        str(row[0].node),
        row[0].score if abs(row[0].score) >= LEAST_SCORE else None,
        row[0].detail or ("" if row[0].applied else f"not {VERBS[row[0].kind]}: {REASON_SENTENCES[row[0].reason]}"),
        row[0].cost if row[0].applied else None,
        row[1],
    ),
    tones={"▲": "good", "▽": "accent", "refused": "warn"},
    empty=("No score reached a threshold; nothing was refused.",),
)


def list_decisions(view: FocusView) -> RowList[tuple[Decision, str]]:
    """List what the last refocus did, then what it refused and why, strongest scores first."""
    ranked = sorted(
        (verdict for verdict in view.decisions if verdict.reason != "below_threshold"),
        key=lambda verdict: (
            not verdict.applied,
            verdict.reason in _BY_RULE,
            -abs(verdict.score),
            verdict.level,
            verdict.index,
        ),
    )
    names = Names(view)
    done = sum(decision.applied for decision in ranked)
    title = f"last refocus: {done} done, {len(ranked) - done} refused"
    return DECISIONS.of(title, [(decision, names.name_at(decision.start)) for decision in ranked])


# --- why ----------------------------------------------------------------------------------------------------


def explain(result: EntryExplanation) -> list[Line]:
    """Return lines that explain an entry, most important first."""
    entry, hit, measured = result.entry, result.found, result.measurement
    tokens, decision = entry.end - entry.start, result.decision
    stands = entry.level == 0 and decision is not None and decision.kind == "expand" and not decision.applied
    residency = f" · unchanged for {plural(entry.residency, 'refocus', 'refocuses')}" if entry.residency else ""
    lines = [
        (f"why #{entry.position}  {entry.node}", f"{_state(entry)}{residency}".strip(" ·")),
        ("it is", f"{tokens:,} tokens word for word" if entry.level == 0 else f"a gist for {tokens:,} tokens"),
        ("from", ", ".join(dict.fromkeys(span.label for span in result.sources if span.label))),
        ("text", f"“{' '.join(result.text.split())}”"),
        ("decided", "it is read word for word already" if stands else result.reason_text),
        ("score", _tell_score(result)),
        ("next", result.would),
    ]
    if hit is not None:
        subject = "it" if entry.level == 0 else "the best block in it"
        rank = f"{subject} is number {result.found_rank} of the blocks that the search found for the question"
        alike = f"its meaning is like the question's by {hit.meaning:+.2f} of 1, it holds {hit.words:.0%} of its words"
        similar = f"words like them count {hit.similar:+.1f} standard deviations above those of the average block"
        lines.append(("question", f"{rank}: {alike}, and {similar}"))
    if result.unanswered:
        lines.append(("question", "no block resembles the question"))
    if measured is not None:
        lines.append(("measured", tell_worth(measured)))
    costs = []
    if result.expand_cost is not None:
        time = f" ≈ {milliseconds(result.expand_ms)}" if result.expand_ms > 0 else ""
        costs.append(f"opening takes {result.expand_cost} positions of the window{time}")
    if result.collapse_cost is not None:
        costs.append(f"closing frees {-result.collapse_cost} positions of the window")
    lines.append(("costs", ", ".join(costs)))
    if result.keeping is not None:
        lines += _tell_keeping(result.keeping)
    return [lines[0], *((label, text) for label, text in lines[1:] if text)]


def _tell_score(result: EntryExplanation) -> str:
    """Return a score with its parts, largest first, without them where it is inherited; "" for a score near 0."""
    if abs(result.score) < LEAST_SCORE:
        return ""
    scale = f"{format_signed(result.score)}, where −1 asks to close it and +1 to open it"
    if result.entry.inherited:
        return f"{scale}: taken over from what it was part of when that was opened or closed"
    parts = [part for part in sorted(result.parts, key=lambda part: -abs(part[1])) if abs(part[1]) >= LEAST_SCORE]
    breakdown = " · ".join(
        f"{PART_WORDS.get(name) or name.replace('_', ' ')} {format_signed(value)}" for name, value in parts
    )
    return f"{scale}: {breakdown}" if breakdown else scale


def _tell_keeping(keeping: NodeProvenance) -> Iterator[Line]:
    """Yield lines on an entry's origin, use, and forgotten detail."""
    use = keeping.use
    yield "origin", f"text with the hash {keeping.provenance}, gist by encoder version {keeping.gist_version}"
    known = [description for span in keeping.spans if (description := _tell_about(span.about))]
    if known:
        more = f" and {keeping.span_count - len(keeping.spans)} more" if keeping.span_count > len(keeping.spans) else ""
        yield "known of it", "; ".join(known) + more
    if keeping.tags:
        yield "tags", ", ".join(dict.fromkeys(tag.word for tag in keeping.tags))
    worth = f"; its words changed what came next by {use.gain:+.3f} nats a token" if use.gain is not None else ""
    yield "used", f"opened {plural(use.opened, 'time')}, open for {plural(use.dwell, 'refocus', 'refocuses')}{worth}"
    if keeping.forgotten or keeping.purged:
        asked = f", asked for {use.wanted} times since" if use.wanted else ""
        gone = f"{keeping.purged:,} tokens for good" if keeping.purged else "can be restored"
        yield "forgotten", f"what lies below it ({gone}){asked}"


def _tell_about(about: SpanAbout) -> str:
    parts = [about.key.rstrip("#"), about.domain, about.language, about.time[:10]]
    parts += ["" if about.trust is None else f"trust {about.trust:g}"]
    parts += [f"version {about.version}" if about.version else ""]
    parts += [f"bridges to {', '.join(about.bridges)}" if about.bridges else ""]
    return ", ".join(part for part in parts if part)


WHY: Final = Rows[EntryExplanation]("span", lambda result: (str(result.entry.node),), explain)


@entry(figure=draw_view, sentence=lambda result: f"{result.entry.node}: {result.reason_text}")
def entry_explanation(result: EntryExplanation) -> ResultTable:
    (title, state), *lines = explain(result)
    return facts(title, [("state", state or None), *lines])


WORDS: Final = Rows[Any](
    "word! block! nats:score control:score",
    lambda word: (word.text, None if word.block is None else str(word.block), word.nats, word.control),
    empty=("No block was open.",),
)


def _tell_dependence(result: AnswerDependence) -> str:
    counts = Counter(str(word.block) for word in result.words if word.block)
    summary = ", ".join(f"{count} on {block}" for block, count in counts.most_common(4)) or "none on an open block"
    return f"{len(result.words)} words of the answer: {summary}"


@entry(figure=draw_view, sentence=_tell_dependence)
def answer_dependence(result: AnswerDependence) -> RowList[Any]:
    return WORDS.of(_tell_dependence(result), result.words)


# --- opened, stepped, steered -------------------------------------------------------------------------------


def _tell_opening(result: Opened) -> str:
    view = result.view
    line = f"{result.source} is open: {view.lifetime:,} tokens held in {view.used:,} of {view.window:,}"
    return f"{line} · {UNTRAINED}" if view.untrained else line


def _tell_reading(view: FocusView) -> str:
    """Say whether keys and values are recomputed behind a changed passage."""
    if view.full_read_every == 1:
        return "computed anew behind each change"
    if not view.rotates:
        return "computed anew behind each change: this model's keys cannot be turned to other positions"
    return f"reused behind a change, computed anew every {view.full_read_every} changes"


@entry(figure=draw_view, sentence=_tell_opening)
def tabulate_opened(result: Opened) -> ResultTable:
    view = result.view
    pairs = [
        ("from", result.source),
        ("question", result.question or None),
        ("segments", result.segments),
        ("lifetime tokens", view.lifetime),
        ("working context", f"{view.used} of {view.window} in {len(view.entries)} entries"),
        ("levels", view.levels),
        ("model", f"{view.model} {view.precision}"),
        ("gist / scorer", f"{view.gist} / {view.scorer}"),
        ("keys and values", _tell_reading(view)),
    ]
    return facts("Opened", pairs, (f"! {WARNING}",) if view.untrained else ())


def _tell_steps(result: Stepped) -> str:
    """Say how many tokens were decoded and what the refocuses among them did."""
    refocuses = [record.refocus for record in result.records if record.refocus is not None]
    refocuses += [result.refocus] if result.refocus is not None else []
    count = len(result.records)
    parts = ["1 token" if count == 1 else f"{count} tokens"] if count else []
    if refocuses:
        last = refocuses[-1]
        kinds = Counter(decision.kind for decision in last.applied)
        done = f"{kinds['expand']} opened, {kinds['collapse']} closed" if kinds else "nothing changed"
        parts.append(f"refocus {last.number}: {done}")
        parts += [nothing_alike(result.view)] if result.view.unanswered else []
    parts += ["the answer is finished"] if result.view.finished else []
    return " · ".join(parts)


@entry(figure=draw_view, sentence=_tell_steps)
def tabulate_steps(result: Stepped) -> ResultTable:
    rows = []
    for record in result.records:
        applied = record.refocus.applied if record.refocus is not None else ()
        done = " ".join(f"{ACTION_SIGNS[decision.kind]}{decision.node}" for decision in applied)
        rows.append((record.step, record.text, record.nll, record.used, record.dirty, record.milliseconds, done))
    view = result.view
    notes = [f"“{view.text}”" if view.text else ""]
    if result.refocus is not None:
        decided = result.refocus
        proposed = f"{len(decided.applied)} of {len(decided.decisions)} proposals applied"
        notes.insert(0, f"Refocus {decided.number}: {proposed}, swap {decided.swap_rate:.2f}")
    if view.unanswered:
        notes.insert(0, f"! {nothing_alike(view)}")
    title = f"{len(rows)} tokens, {view.used} of {view.window} used"
    return sheet(title, "step:n token nll:score used:n dirty:n time:ms refocus*", rows, notes)


def _tell_steering(result: Steered) -> str:
    node, branch = result.node, _tell_branch(result.view)
    if result.released:
        freed = {"pin": "unpinned: it may close again", "forbid": "released: it may open again"}
        return f"{node} {freed.get(result.word, 'will be left alone at the next refocus')}{branch}"
    if result.in_tail and result.word in ("expand", "collapse"):
        return f"{node} is part of the latest text, which stays word for word: it can {result.word} only later{branch}"
    sentences = {
        "pin": f"{node} pinned: it will not close",
        "forbid": f"{node} kept shut: it will not open",
        "expand": f"Will open {node} at the next refocus",
        "collapse": f"Will close into {node} at the next refocus",
    }
    return sentences[result.word] + branch


def _tell_branch(view: FocusView) -> str:
    return "" if len(view.branches) < 2 else f" · on branch {view.branch}"


@entry(figure=draw_view, sentence=_tell_steering)
def list_steering(result: Steered) -> ResultTable:
    heard = "from the next refocus on"
    if result.word in ("expand", "collapse"):
        heard = "none while it is among the latest" if result.in_tail and not result.released else "at the next refocus"
    return facts(
        _tell_steering(result),
        [("node", result.node), ("effect", heard), ("branch", result.view.branch), ("step", result.view.step)],
    )


def tell_worth(measured: Any) -> str:
    """Say how much an entry's detail improves the model's predictions."""
    saved = f"; the gist saves {with_sign(measured.saved)}" if measured.saved is not None else ""
    return (
        f"detail is worth {with_sign(measured.gain)} ± {measured.error:.2f} nats per token "
        f"over {measured.horizon} tokens{saved}"
    )


@entry(figure=draw_view, sentence=lambda result: f"{result.measurement.node}: {tell_worth(result.measurement)}")
def tabulate_measured(result: Measured) -> ResultTable:
    measurement = result.measurement
    return facts(
        f"{measurement.node}: {tell_worth(measurement)}",
        [
            ("gain", f"{measurement.gain:+.4f} ± {measurement.error:.4f} nats a token"),
            ("NLL fine / coarse", f"{measurement.nll_fine:.4f} / {measurement.nll_coarse:.4f}"),
            ("step", measurement.step),
        ],
    )


def _tell_setting(result: SettingChanged) -> str:
    return f"{result.key} is now {result.after} (was {result.before}){_tell_branch(result.view)}"


@entry(figure=draw_view, sentence=_tell_setting)
def tabulate_changed_setting(result: SettingChanged) -> ResultTable:
    pairs = [("before", result.before), ("branch", result.view.branch), ("from step", result.view.step)]
    return facts(_tell_setting(result), pairs)
