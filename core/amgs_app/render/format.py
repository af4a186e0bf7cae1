"""Format small values as text: ages, times, counts, numbers, short ids; and sentences used by several tables and
figures. No function reads a clock.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from amgs.masking import tell_masked
from amgs.text.words import plural, tell_again

if TYPE_CHECKING:
    from amgs.types import Block, IngestReport, JournalEntry, LayerReport, UndoPlan
    from amgs.types.calibration import CoverageReview, FrameCoverage
    from amgs_focus.views import FocusView


SHORT_ID = 8
"""Digits of a block id on the screen; commands accept any unambiguous beginning."""
_WHOLE_ID = re.compile(r"\b[0-9a-f]{64}\b")


def short_id(block_id: str) -> str:
    """Return the first digits of a block's id."""
    return block_id[:SHORT_ID]


def short_ids(line: str) -> str:
    """Shorten every block id in a line."""
    return _WHOLE_ID.sub(lambda match: short_id(match[0]), line)


def age(then: datetime, now: datetime) -> str:
    """Return the time between two instants in its largest unit: `12 s`, `4 min`, `7 h`, `3 d`, `5 mo`, `2 y`; `now`
    below a second.
    """
    return span((now - then).total_seconds())


def ago(then: datetime, now: datetime) -> str:
    """Return `3 d ago` or `just now`; `in 8 mo` for a date in the future, as files may have when the clock is fixed."""
    age_text = age(then, now)
    if age_text == "now":
        return "just now"
    return f"in {age(now, then)}" if then > now else f"{age_text} ago"


def span(seconds: float) -> str:
    """Format seconds in their largest unit; negative ones with a sign."""
    size = abs(seconds)
    sign = "−" if seconds < 0 else ""
    if size < 1:
        return "now"
    for limit, unit, length in (
        (60, "s", 1),
        (3600, "min", 60),
        (86400, "h", 3600),
        (60 * 86400, "d", 86400),
        (730 * 86400, "mo", 30.44 * 86400),
    ):
        if size < limit:
            return f"{sign}{int(size / length)} {unit}"
    return f"{sign}{int(size / (365.25 * 86400))} y"


def format_days(days: float) -> str:
    """`30 days`, `1 day`, `0.5 days`."""
    return "1 day" if days == 1 else f"{days:g} days"


def half_life(decay_lambda: float) -> str:
    """Return the time in which relevance halves, such as `2.9 d`; `never` for a pinned block (λ = 0)."""
    if decay_lambda <= 0:
        return "never"
    hours = math.log(2) / decay_lambda
    for limit, unit, length in ((48, "h", 1.0), (60 * 24, "d", 24.0), (24 * 30.44 * 24, "mo", 24 * 30.44)):
        if hours < limit:
            return f"{hours / length:.1f} {unit}"
    return f"{hours / (24 * 365.25):.1f} y"


def day(instant: datetime) -> str:
    """`2026-03-01`."""
    return instant.strftime("%Y-%m-%d")


def minute(instant: datetime) -> str:
    """`2026-03-01 09:00`."""
    return instant.strftime("%Y-%m-%d %H:%M")


def count(number: int) -> str:
    """Format an integer with thousands separators: `806,252`."""
    return f"{number:,}"


def short_count(number: float) -> str:
    """Format a count in at most five characters: `412`, `1,204`, `18.7k`, `1.2M`."""
    if number < 10_000:
        return f"{number:,.0f}"
    for scale, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        if number < scale * 1000:
            value = number / scale
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number / 1e12:.1f}T"


def share(value: float, digits: int = 2) -> str:
    """Format a number from −1 to 1 without its leading zero: `.41`, `−.07`, `1.00`."""
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) > 0 else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def format_signed(value: float, digits: int = 2) -> str:
    """Format like `share`, with a plus sign for positive numbers."""
    text = share(value, digits)
    return text if text.startswith("−") else f"+{text}"


def optional(value: float | None, digits: int = 2) -> str:
    """Format like `share`; `·` for None or NaN."""
    return "·" if value is None or math.isnan(value) else share(value, digits)


def milliseconds(value: float) -> str:
    """Format a duration: `0.8 ms`, `93 ms`, `1.9 s`; `·` for 0, which a fixed clock measures."""
    if value <= 0:
        return "·"
    if value < 9.95:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 995 else f"{value / 1000:.1f} s"


def name_operation(operation: JournalEntry) -> str:
    """Return a journal entry as a sentence names it: `#2: consolidate 12 blocks (7 fact, 5 person)`."""
    summary = operation.summary
    label = summary if not summary or summary.startswith(operation.kind) else f"{operation.kind} {summary}"
    return f"#{operation.id}: {label or operation.kind}"


def describe_undo(plan: UndoPlan, now: datetime) -> str:
    """Return sentences that say what an undo will change, before it runs."""
    done = plan.operation
    byline = ", not by you" if done.unasked_by else ""
    sentences = [f"{name_operation(done)}{byline}, {ago(done.at, now)}."]
    blocks = plural(done.blocks, "block")
    if done.kind == "ingest":
        sentences.append(f"{blocks} will be removed from the memory, or lose the source that this ingest gave them.")
    elif done.kind == "feedback":
        sentences.append("The verdict will be removed and its forecast reopened.")
    elif done.kind in ("frame", "metrics"):
        sentences.append(
            "The definition becomes what it was." if done.kind == "frame" else "The record will be removed."
        )
    elif done.kind == "review":
        sentences.append("These findings will be removed from the queue.")
    elif done.blocks or done.edges:
        sentences.append(f"{blocks} and {plural(done.edges, 'edge')} become what they were.")
    if plan.corrected:
        sentences.append(f"{plural(plan.corrected, 'manual correction')} will be lost.")
    if plan.later:
        sentences.append(f"Undo first: {', '.join(map(str, reversed(plan.later)))}.")
    return " ".join([*sentences, "An undo is not undone."])


_ENDINGS_TOLD = 4


def mark_title(block: Block) -> str:
    """Return the title, with "superseded" before it if a newer block replaces this one."""
    return f"superseded · {block.title}" if block.superseded else block.title


def format_ingest(report: IngestReport) -> str:
    """Return the counts of an ingest: `683 new, 1 holds again, 0 duplicates, 0 rejected, 8 files skipped (.png)`."""
    parts = [f"{len(report.added):,} new"]
    parts += [f"{len(report.replaced):,} replaced"] if report.replaced else []
    parts += tell_again(len(report.again), len(report.repeated))
    parts += [
        plural(len({*report.known} - {*report.again, *report.repeated}), "duplicate"),
        f"{len(report.refused):,} rejected",
    ]
    if report.warnings:
        parts.append(plural(len(report.warnings), "warning"))
    if report.links_to_nowhere:
        parts.append(f"{plural(report.links_to_nowhere, 'link')} to nowhere")
    if report.skipped:
        most = sorted(report.skipped, key=lambda group: (-group.files, group.ending))
        endings = [group.ending or "no ending" for group in most[:_ENDINGS_TOLD]]
        endings += ["…"] if len(most) > _ENDINGS_TOLD else []
        parts.append(f"{plural(sum(group.files for group in most), 'file')} skipped ({', '.join(endings)})")
    parts += [masked] if (masked := tell_masked(report.masked)) else []
    return ", ".join(parts)


_MOST_WORDS = 4


class AnswerFindings(Protocol):
    """What a search found out about an answer; see `SearchResult`."""

    @property
    def answerable(self) -> float | None: ...
    @property
    def unestimated(self) -> str: ...
    @property
    def unheld(self) -> tuple[str, ...]: ...


def describe_answer(result: AnswerFindings) -> list[str]:
    """Return sentences on the words of the query that no block holds, and on how likely the memory holds an answer."""
    sentences = []
    if result.unheld:
        named = ", ".join(f"“{word}”" for word in result.unheld[:_MOST_WORDS])
        more = len(result.unheld) - _MOST_WORDS
        sentences.append(f"no block holds {named}" + (f" or {plural(more, 'other word')} of it" if more > 0 else ""))
    if result.answerable is not None:
        from amgs.retrieval.similarity import describe_chance

        sentences += [
            f"{estimate} in memory (estimated)" for estimate in (describe_chance(result.answerable),) if estimate
        ]
    return sentences


UNTRAINED = "no trained gists exist for this model"
WARNING = (
    "No trained gists exist for this model: spans are held by pointer gists, which lose nearly everything but their "
    "last token. Search and the map work without them; put trained ones into [paths] checkpoints."
)


def nothing_alike(view: FocusView) -> str:
    """Return the warning that no block resembles the question of a working context."""
    alike = "shares a word with" if view.question_likelihood is None else "resembles"
    return f"No block {alike} the question: what is read word for word was not chosen by what it asks."


def unheld(view: FocusView) -> str:
    """Return the warning that pinned spans do not fit the window, with what to do."""
    nodes = ", ".join(str(node) for node in view.unheld)
    return f"No room for what is pinned: {nodes}. Widen the window (focus set window N), or release a pin."


def describe_coverage(coverage: FrameCoverage) -> str:
    """Return a frame's promise: `holds what the question needs with ≥ 87 % (64 labelled questions); 90 % would cost 640
    tokens`.
    """
    promise = f"holds what the question needs with ≥ {int(100 * coverage.share)} %"
    sentence = f"{promise} ({coverage.questions:,} labelled questions)"
    higher = [(level, cost) for level, cost in coverage.costs if level > coverage.share and cost is not None]
    costs = [
        f"{100 * level:.0f} %{'' if place else ' would cost'} {cost:,}{'' if place else ' tokens'}"
        for place, (level, cost) in enumerate(higher)
    ]
    return f"{sentence}; {', '.join(costs)}" if costs else sentence


def describe_coverage_review(review: CoverageReview) -> str:
    """Return a frame's promises and how often they held; or that it has too few labelled questions."""
    asked = f"{review.frame}, {review.questions:,} labelled question{'' if review.questions == 1 else 's'}"
    if not review.levels:
        return f"{asked}: a promise of coverage needs {review.least}"
    promises = [
        f"{100 * promise.level:.0f} % "
        + ("cannot be promised" if promise.tokens is None else f"in {promise.tokens:,} tokens")
        + (f" (so promised before, held {promise.held:,} of {promise.tried:,})" if promise.tried else "")
        for promise in review.levels
    ]
    return f"{asked}: what a question needs is held with {', '.join(promises)}"


def describe_layers(layers: tuple[LayerReport, ...]) -> str:
    """Return the candidates and time of each search layer, on a single line."""
    parts = [
        f"{layer.layer} skipped ({layer.skipped})"
        if layer.skipped
        else f"{layer.layer} {layer.candidates_in}→{layer.candidates_out} {layer.milliseconds:.1f} ms"
        for layer in layers
    ]
    return " │ ".join(parts)
