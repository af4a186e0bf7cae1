"""Cases beside an earlier run of them: which moved, by what part of a score, and what came before the wanted block."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.types.question_case import CaseChange, CaseComparison, CaseHit, CaseOutcome

_LEAST = 0.005
"""A part that moved by less is not named."""
_PASSED = 3
"""So many blocks that came before the wanted one are named."""


def compare(before: Sequence[CaseOutcome], after: Sequence[CaseOutcome]) -> CaseComparison:
    """Both runs, case by case; a case that was edited since is another one."""
    earlier = {one.case: one for one in before}
    same, moved, added = 0, [], []
    for now in after:
        was = earlier.pop(now.case, None)
        if was is None:
            added.append(now.case.question)
        elif (was.faults == now.faults or not (was.faults or now.faults)) and was.rank == now.rank:
            same += 1
        else:
            moved.append(CaseChange(was, now, reasons(was, now)))
    return CaseComparison(same, tuple(moved), tuple(added), tuple(case.question for case in earlier))


def reasons(before: CaseOutcome, after: CaseOutcome) -> tuple[str, ...]:
    """Why a case moved: where its wanted block was and is, what part of its score moved most, and what passed it."""
    was, now = _wanted(before), _wanted(after)
    known = {hit.block for hit in before.hits}
    told: list[str] = []
    if was is None and now is None:
        came = [hit for hit in after.hits if hit.block not in known]
        return tuple(f"{_named(hit)} came in, at rank {hit.rank}" for hit in came[:_PASSED])
    if was is None and now is not None:
        told.append(f"{_named(now)} came in, at rank {now.rank}")
    elif was is not None:
        same = next((hit for hit in after.hits if hit.block == was.block), None)
        told.append(_course(was, same, len(after.hits)))
        if same is not None:
            told += _parts(was, same)
        passed = _passed(before, after, was, same)
        told += [f"{_named(hit)} {_since(hit, before)} came before it, at rank {hit.rank}" for hit in passed]
    return tuple(told)


def _wanted(outcome: CaseOutcome) -> CaseHit | None:
    """The block at the outcome's rank, else the first that contains one of the wanted texts."""
    return next(
        (hit for hit in outcome.hits if (hit.rank == outcome.rank if outcome.rank else hit.wanted)), None
    )


def _course(was: CaseHit, now: CaseHit | None, given: int) -> str:
    if now is None:
        return f"{_named(was)} was at rank {was.rank} and is not among the {given} that are given"
    if now.rank == was.rank:
        return f"{_named(was)} stays at rank {was.rank}"
    return f"{_named(was)} went from rank {was.rank} to {now.rank}"


def _parts(was: CaseHit, now: CaseHit) -> list[str]:
    """What moved a block the way that it went: the layers that no longer find it, or find it now, and the part of its
    score that fell, or rose, most. What moved the other way explains nothing.
    """
    fell = now.rank > was.rank
    told = []
    layers = _without(was.layers, now.layers) if fell else _without(now.layers, was.layers)
    if layers:
        told.append(f"{'no longer' if fell else 'now'} found by {', '.join(layers)}")
    before, after = dict(was.parts), dict(now.parts)
    moves = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in (*before, *after)}
    most = max(moves, key=lambda name: -moves[name] if fell else moves[name], default="")
    if most and abs(moves[most]) >= _LEAST and (moves[most] < 0) == fell:
        told.append(f"its {most} moved from {before.get(most, 0.0):.2f} to {after.get(most, 0.0):.2f}")
    return told


def _passed(before: CaseOutcome, after: CaseOutcome, was: CaseHit, now: CaseHit | None) -> list[CaseHit]:
    """What is before the wanted block now and was not: the best first; where it is gone, as far as its place was."""
    ahead = {hit.block for hit in before.hits if hit.rank < was.rank}
    end = len(after.hits) + 1 if now is None else now.rank
    return [hit for hit in after.hits if hit.rank < end and hit.block not in {*ahead, was.block}][:_PASSED]


def _since(hit: CaseHit, before: CaseOutcome) -> str:
    was = next((one.rank for one in before.hits if one.block == hit.block), None)
    return "(not given before)" if was is None else f"(from rank {was})"


def _without(some: Sequence[str], others: Sequence[str]) -> list[str]:
    return [one for one in some if one not in others]


def _named(hit: CaseHit) -> str:
    return f"{hit.block[:12]} “{hit.title}”"
