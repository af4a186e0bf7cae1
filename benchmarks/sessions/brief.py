"""What a brief of the first part of a session holds of what the rest needs again: files, commands, numbers, constraints
and decisions; beside the program's own summary, the last tokens, the first, and turns at random.

The split is the first compaction of a session, so that the program's summary stands at the same place, else its middle.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.text.language_model import approximate_tokens
from amgs.wings.sessions.brief import write_brief
from amgs.wings.sessions.findings import findings_in
from benchmarks.bench_results import BenchTable, Rig

TOKENS: Final = (500, 1000, 2000, 4000)
_FEWEST: Final = 3
"""Needs that a session must have to be judged."""
_KINDS: Final = ("path", "command", "number", "constraint", "decision")
_DRAWS: Final = 1000
_SHOWN: Final = 2000
"""Tokens at which the classes are told apart."""


def judge_briefs(rig: Rig, sessions: Sequence[Session], metrics: dict[str, float]) -> BenchTable:
    """The share of what is needed again that each way holds, by tokens, with intervals over sessions."""
    rows: list[tuple[str | float, ...]] = []
    kinds: dict[tuple[str, str], list[bool]] = {}
    for own in (False, True):
        for tokens in TOKENS:
            held: dict[str, list[float]] = {}
            for session in sessions:
                before, after = _split(session)
                needs = _needs(before, after)
                if len(needs) < _FEWEST or (own and not _summary(session)):
                    continue
                for way, text in _ways(session, before, tokens, rig.seed, own=own).items():
                    plain = " ".join(text.split())
                    found = [_short(need) in plain for need in needs]
                    held.setdefault(way, []).append(sum(found) / len(needs))
                    if tokens == _SHOWN and not own:
                        for kind, is_held in zip(needs.values(), found, strict=True):
                            kinds.setdefault((kind, way), []).append(is_held)
            for way, shares in held.items():
                mean, low, high = _interval(shares, rig.seed)
                beside = [mine - other for mine, other in zip(held["brief"], shares, strict=True)]
                _, less, more = _interval(beside, rig.seed)
                percent = [100 * share for share in (mean, low, high, less, more)]
                rows.append(("compacted" if own else "all", tokens, way, len(shares), *percent))
                metrics[f"brief_{'own_' if own else ''}{tokens}_{way.replace(' ', '_')}"] = mean
    for (kind, way), found in sorted(kinds.items()):
        share = 100 * sum(found) / len(found)
        rows.append((f"of each {kind}", _SHOWN, way, len(found), share, "", "", "", ""))
    columns = ("sessions", "tokens", "way", "n", "held", "low", "high", "brief_more_low", "brief_more_high")
    return BenchTable("What the rest of a session needs again, held", columns, tuple(rows))


def _split(session: Session) -> tuple[Sequence[Turn], Sequence[Turn]]:
    turns = session.main
    first = session.boundaries[0] if session.boundaries else None
    place = len(turns) // 2 if first is None else turns.index(first)
    return turns[:place], [turn for turn in turns[place:] if turn.kind not in ("summary", "boundary")]


def _needs(before: Sequence[Turn], after: Sequence[Turn]) -> dict[str, str]:
    """What both parts hold, word for word, of the classes that an agent needs again, each with its class."""

    def found(turns: Sequence[Turn]) -> dict[str, str]:
        return {
            each.text: each.kind
            for turn in turns
            if turn.kind not in ("summary", "boundary", "injected")
            for each in findings_in(turn)
            if each.kind in _KINDS
        }

    known = found(before)
    return {need: kind for need, kind in found(after).items() if need in known}


def _short(need: str) -> str:
    """A need as whoever writes a summary may name it: a path by its last two parts."""
    return "/".join(need.split("/")[-2:]) if need[:1] in "/~" and " " not in need else need


def _summary(session: Session) -> str:
    """What the program wrote in place of what its first compaction dropped."""
    first = session.boundaries[0] if session.boundaries else None
    if first is None:
        return ""
    later = (turn for turn in session.main if turn.number >= first.number and turn.kind == "summary")
    found = next(later, None)
    return "" if found is None else session.text(found)


def _ways(session: Session, before: Sequence[Turn], tokens: int, seed: int, *, own: bool) -> dict[str, str]:
    mixed = random.Random(seed).sample(before, len(before))

    def said(turn: Turn) -> str:
        return turn.words if turn.calls else session.text(turn)

    ways = {
        "brief": write_brief(session, tokens, before).text,
        "last tokens": _cut(map(said, reversed(before)), tokens, end=True),
        "first tokens": _cut(map(said, before), tokens),
        "random turns": _cut(map(said, mixed), tokens),
    }
    return ways | ({"own summary": _cut([_summary(session)], tokens)} if own else {})


def _cut(texts: Iterable[str], tokens: int, *, end: bool = False) -> str:
    """So many tokens of texts; of the one that is too long its beginning, or its end."""
    parts: list[str] = []
    for text in texts:
        cost = approximate_tokens(text)
        if cost > tokens:
            share = int(len(text) * tokens / cost)
            parts.append(text[len(text) - share :] if end else text[:share])
            break
        parts.append(text)
        tokens -= cost
    return "\n".join(reversed(parts) if end else parts)


def _interval(shares: Sequence[float], seed: int) -> tuple[float, float, float]:
    """Mean, and its 95 % interval by drawing sessions again."""
    drawing = random.Random(seed)
    means = sorted(sum(drawing.choices(shares, k=len(shares))) / len(shares) for _ in range(_DRAWS))
    return sum(shares) / len(shares), means[int(_DRAWS * 0.025)], means[int(_DRAWS * 0.975)]
