"""Plan which detail a lifetime may forget, with reasons to spare the rest.

MegaContext, "Pruning lifetime context". A span's strength halves with every half-life since its last use. Use lengthens
the half-life, a coarser level has a longer one, a domain may have its own. Forgetting a gist hides what is below it:
tokens first, then the gists over them, level by level; the gist itself stays. Nothing is changed here: the runtime
turns a plan into an act, and an act can be restored until it is purged.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.records import NodeRef, parent_of, span_id
from amgs_focus.settings import ForgetRules
from amgs_focus.tree.node_set import NodeRun, NodeSet
from amgs_focus.tree.span_metadata import FATES, Act, ActKind, Descriptor, Fate

if TYPE_CHECKING:
    from amgs_focus.tree.gist_tree import LifetimeTree
    from amgs_focus.tree.span_index import SpanIndex

MOST_LENGTHENED = 4  # openings that double a half-life

LEVEL_FACTOR = 4.0
"""Factor of the half-life for each coarser level."""

FLOOR = 0.25
"""Strength below which detail may be forgotten: two half-lives without use."""

WORTH = 0.02
"""Measured nats a token from which detail is spared; below it, detail fades twice as fast."""

ASKED, RECENT_QUESTIONS = 0.5, 8
"""Share of the words of one of the last RECENT_QUESTIONS questions from which a block is spared."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RetentionContext:
    """Parts of a lifetime that a plan must spare, beside the rules.

    tail_start: first token of the tail, which is always read as tokens. standing: gists that are open in the window.
    pinned: nodes that the operator pinned.
    """

    tail_start: int
    standing: Container[NodeRef] = ()
    pinned: Sequence[NodeRef] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    """Gists [first, first + n) of a level: strength in [0, 1]; idle: tokens since the last use; openings; fates."""

    level: int
    first: int
    strength: Floats
    idle: NDArray[np.int64]
    opened: NDArray[np.int64]
    fates: tuple[Fate, ...]


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """Nodes to forget, weakest first.

    fates: (level, fate, number of gists) over all gists. tokens: lifetime tokens that would no longer be shown. bytes:
    freed by a later purge.
    """

    nodes: NodeSet
    record: tuple[Descriptor, ...]
    fates: tuple[tuple[int, Fate, int], ...]
    tokens: int
    bytes: int
    lifetime: int

    @property
    def is_empty(self) -> bool:
        return not self.nodes.runs


Watch = Callable[[int, int, str], None]


def plan(
    tree: LifetimeTree,
    rules: ForgetRules,
    now: RetentionContext,
    *,
    limit: int | None = None,
    progress: Watch | None = None,
) -> ForgetPlan:
    """Return what the rules would forget now: at most `limit` gists, the weakest. Nothing is changed."""
    weak: list[tuple[float, int, int, int]] = []  # strength, level, first token, index
    counted: Counter[tuple[int, Fate]] = Counter()
    asked = _RecentQuestions(tree)
    assessments: dict[int, Assessment] = {}
    for level in range(1, tree.depth + 1):
        if progress is not None:
            progress(level - 1, tree.depth, f"level {level}")
        assessment = assessments[level] = assess(tree, level, 0, tree.count(level), rules, now, asked)
        width = tree.block_size**level
        for at, fate in enumerate(assessment.fates):
            counted[level, fate] += 1
            if fate == "weak":
                weak.append((float(assessment.strength[at]), level, at * width, at))
    chosen = NodeSet.of(NodeRef(level, at) for _, level, _, at in sorted(weak)[:limit])
    described = tuple(_describe_run(tree, run, assessments[run.level]) for run in chosen.runs)
    return ForgetPlan(
        nodes=chosen,
        record=tuple(
            sorted(described, key=lambda descriptor: (descriptor.strength, descriptor.level, descriptor.start))
        ),
        fates=tuple((level, fate, count) for (level, fate), count in sorted(counted.items())),
        tokens=sum((run.stop - run.first) * tree.block_size for run in chosen.runs if run.level == 1),
        bytes=count_freed(tree, chosen),
        lifetime=tree.length,
    )


def assess(
    tree: LifetimeTree,
    level: int,
    first: int,
    stop: int,
    rules: ForgetRules,
    now: RetentionContext,
    asked: _RecentQuestions | None = None,
) -> Assessment:
    """Return strength and fate of gists [first, stop) of a level."""
    size = tree.block_size
    width = size**level
    starts = np.arange(first, stop, dtype=np.int64) * width
    used = tree.catalogue.usage.table(level).rows(first, stop)
    opened = used["opened"].astype(np.int64)
    idle = tree.length - np.maximum(starts + width, used["last"].astype(np.int64))
    lives, superseded = _lives(tree, rules, starts, width)
    lives = lives * LEVEL_FACTOR ** (level - 1) * 2.0 ** np.minimum(opened, MOST_LENGTHENED)
    unhelpful = (used["measured"] > 0) & (used["gain"] < WORTH)
    lives = np.where(unhelpful, lives / 2, lives)
    strength = np.where(superseded, 0.0, 2.0 ** (-idle / lives))
    fates: list[Fate] = []
    for at in range(stop - first):
        node = NodeRef(level, first + at)
        end = int(starts[at]) + width
        guard = _guard(tree, node, int(starts[at]), end, rules, now)
        if guard is None and used["measured"][at] and used["gain"][at] >= WORTH:
            guard = "worth"
        if guard is None and strength[at] >= FLOOR:
            guard = "strong"
        fates.append(guard or "weak")
    weak = [NodeRef(level, first + at) for at, fate in enumerate(fates) if fate == "weak"]
    for node in (asked or _RecentQuestions(tree)).among(weak):
        fates[node.index - first] = "asked"
    return Assessment(level, first, strength, idle, opened, tuple(fates))


def by_hand(tree: LifetimeTree, nodes: Iterable[NodeRef], now: RetentionContext) -> ForgetPlan:
    """Return a plan for gists that the operator named, with everything below them, whatever their strength.

    Raises FocusError for a gist that is incomplete, in the tail, tagged, pinned or forgotten already.
    """
    rules = ForgetRules(recent=0)
    runs: list[NodeRun] = []
    for node in nodes:
        whole = node.level > 0 and tree.exists(node)
        fate = _guard(tree, node, *tree.span(node), rules, now) if whole else None
        if not whole or fate in ("recent", "tagged", "pinned", "forgotten"):
            why = FATES[fate] if fate else "it is no complete gist"
            raise FocusError(
                f"The detail of {node} stays: {why}.",
                title="That cannot be forgotten",
                way_out="Name a gist such as L1#20 outside the tail, without a tag.",
                about="tag",
            )
        for level in range(1, node.level + 1):
            width = tree.block_size ** (node.level - level)
            runs.append(NodeRun(level, node.index * width, (node.index + 1) * width))
    chosen = NodeSet.join(runs) - tree.catalogue.sealed
    assessed = {
        run: assess(tree, run.level, run.first, run.stop, rules, now, _RecentQuestions(tree)) for run in chosen.runs
    }
    return ForgetPlan(
        nodes=chosen,
        record=tuple(_describe_run(tree, run, assessment) for run, assessment in assessed.items()),
        fates=(),
        tokens=sum((run.stop - run.first) * tree.block_size for run in chosen.runs if run.level == 1),
        bytes=count_freed(tree, chosen),
        lifetime=tree.length,
    )


def act_of(
    tree: LifetimeTree,
    kind: ActKind,
    nodes: NodeSet,
    record: tuple[Descriptor, ...] = (),
    *,
    at: str = "",
    by: str = "",
    why: str = "",
) -> Act:
    """Return the next act of a lifetime."""
    return Act(tree.catalogue.span_metadata.next_id, kind, nodes, at, by, why, record)


def require_in_reach(tree: LifetimeTree, tail_start: int) -> None:
    """Raise FocusError when tokens that the tail must show were purged."""
    purged = tree.catalogue.find_gone(0)
    if purged and purged[-1][1] > tail_start:
        raise FocusError(
            f"The tail begins at token {tail_start}, and tokens up to {purged[-1][1]} were purged.",
            title="The tail reaches into what was purged",
            way_out="Use a shorter tail (the setting focus.tail_blocks).",
        )


def count_freed(tree: LifetimeTree, nodes: NodeSet) -> int:
    """Return the bytes that a purge would free: 4 a token, 2 a value of a gist."""
    row = tree.model.card.width * 2
    return sum((run.stop - run.first) * tree.block_size * (4 if run.level == 1 else row) for run in nodes.runs)


class _RecentQuestions:
    """Search for gists with the words of the last questions; the index is built on first use."""

    def __init__(self, tree: LifetimeTree) -> None:
        self._tree = tree
        spans = [span for span in tree.spans() if span.kind == "question"]
        self._questions = spans[-RECENT_QUESTIONS:]
        self._index: SpanIndex | None = None

    def among(self, nodes: Sequence[NodeRef]) -> list[NodeRef]:
        """Return the nodes in which some block holds enough of a question's words."""
        if not nodes or not self._questions:
            return []
        if self._index is None:
            from amgs_focus.tree.span_index import SpanIndex

            self._index = SpanIndex(self._tree)
            self._index.sync()
        matches = np.zeros(len(nodes), bool)
        for span in self._questions:
            words = [int(token) for token in self._tree.tokens(span.start, span.end)]
            query = self._index.query(words, [1.0] * len(words))
            matches |= self._index.lexical(query, nodes) >= ASKED
        return [node for node, is_match in zip(nodes, matches, strict=True) if is_match]


def _guard(
    tree: LifetimeTree, node: NodeRef, start: int, end: int, rules: ForgetRules, now: RetentionContext
) -> Fate | None:
    """Return the reason that spares a gist's detail whatever its strength, or None."""
    if _is_hidden(tree, node):
        return "forgotten"
    if end > min(now.tail_start, tree.length - rules.recent):
        return "recent"
    if tree.catalogue.span_metadata.tags_on(start, end):
        return "tagged"
    for pin in now.pinned:
        low, high = tree.span(pin)
        if low < end and start < high:
            return "pinned"
    if node in now.standing:
        return "in_window"
    if node.level > 1 and not all(tree.is_sealed(child) for child in tree.children(node)):
        return "finer_first"
    return None


def _is_hidden(tree: LifetimeTree, node: NodeRef) -> bool:
    """Return whether a gist or any gist above it is sealed."""
    while node.level <= tree.depth:
        if tree.is_sealed(node):
            return True
        node = parent_of(node, tree.block_size)
    return False


def _lives(
    tree: LifetimeTree, rules: ForgetRules, starts: NDArray[np.int64], width: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return (n,) the longest half-life of the spans in each gist, and (n,) whether all of them were superseded."""
    spans = tree.spans()
    if not len(starts) or not spans:
        return np.full(len(starts), float(rules.half_life)), np.zeros(len(starts), bool)
    latest = tree.catalogue.span_metadata.versions()
    about = [tree.catalogue.about(span.start) for span in spans]
    lives = np.empty(len(spans))
    current = np.empty(len(spans), bool)
    for at, description in enumerate(about):
        life = rules.half_lives.get(description.domain, rules.half_life)
        lives[at] = life * (1.0 if description.trust is None else max(0.1, 2 * description.trust))
        current[at] = (
            not description.version or latest.get(description.path, description.version) == description.version
        )
    begins = np.array([span.start for span in spans])
    low = np.searchsorted(begins, starts, "right") - 1
    high = np.searchsorted(begins, starts + width, "left")
    pairs = np.stack([low, high], axis=1).ravel()
    longest = np.maximum.reduceat(np.append(lives, 0.0), pairs)[::2]
    alive = np.logical_or.reduceat(np.append(current, False), pairs)[::2]
    return longest, ~alive


def _describe_run(tree: LifetimeTree, run: NodeRun, assessment: Assessment) -> Descriptor:
    """Return the record of a forgotten run."""
    width = tree.block_size**run.level
    start, end = run.first * width, run.stop * width
    low, high = run.first - assessment.first, run.stop - assessment.first
    parent = parent_of(NodeRef(run.level, run.first), tree.block_size)
    named = dict.fromkeys(span.label or span.source or span.kind for span in tree.sources(start, end))
    return Descriptor(
        level=run.level,
        first=run.first,
        stop=run.stop,
        start=start,
        end=end,
        checksum=f"{zlib.crc32(tree.tokens(start, end).astype('<u4').tobytes()):08x}",
        parent=span_id(parent) if tree.exists(parent) else -1,
        strength=float(f"{assessment.strength[low:high].min():.6g}"),
        idle=int(assessment.idle[low:high].max()),
        opened=int(assessment.opened[low:high].sum()),
        sources=tuple(named)[:8],
    )
