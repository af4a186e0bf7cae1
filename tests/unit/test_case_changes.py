"""Cases beside an earlier run: what moved, why, and what is kept of a run."""

from __future__ import annotations

from amgs.diagnosis.cases import compare
from amgs.types.diagnosis import CaseChange, CaseHit, CaseOutcome, QuestionCase
from amgs_app.diagnosis.commands import MARK, code, markdown
from amgs_app.results.memory import CasesTested

CASE = QuestionCase("Why did the dome stall?", ("E-17",))


def hit(
    block: str, rank: int, vector: float = 0.5, layers: tuple[str, ...] = ("vector",), *, wanted: bool = False
) -> CaseHit:
    return CaseHit(block, f"About {block}", rank, 0.5, layers, (("vector", vector),), wanted)


def moved(before: CaseOutcome, after: CaseOutcome) -> CaseChange:
    (one,) = compare([before], [after]).moved
    return one


BEFORE = CaseOutcome(CASE, (), 1, (hit("dome", 1, 0.8, ("keyword", "vector"), wanted=True), hit("sea", 2)))


def test_an_outcome_like_the_earlier_one_is_the_same_whatever_stands_behind_it() -> None:
    after = CaseOutcome(CASE, (), 1, (BEFORE.hits[0], hit("goat", 2)))
    assert compare([BEFORE], [after]).same == 1 and not compare([BEFORE], [after]).moved


def test_a_case_that_moved_says_its_ranks_the_part_that_moved_and_what_passed_it() -> None:
    after = CaseOutcome(CASE, (), 3, (hit("goat", 1), hit("sea", 2), hit("dome", 3, 0.3, ("vector",), wanted=True)))
    told = moved(BEFORE, after).because
    assert told[0] == "dome “About dome” went from rank 1 to 3"
    assert "no longer found by keyword" in told and "its vector moved from 0.80 to 0.30" in told
    assert "goat “About goat” (not in the result before) came before it, at rank 1" in told
    assert "sea “About sea” (from rank 2) came before it, at rank 2" in told


HOSTILE = "</details><script>x</script> @everyone ``` [a](http://b) | #1\n\n# head `"


def test_a_report_says_what_fails_and_what_moved_and_no_text_of_the_memory_is_markup() -> None:
    case = QuestionCase(HOSTILE, ("E-17",))
    before = CaseOutcome(case, (), 1, (CaseHit("dome", HOSTILE, 1, 0.5, wanted=True),))
    after = CaseOutcome(case, ("“E-17” is not in the 0 best hits",))
    told = markdown(CasesTested("q.yml", (after,), against="last.json", compared=compare([before], [after])))
    assert told.startswith(f"{MARK}\n### Questions to the memory: 0 hold, 1 fails; 0 same, 1 differs\n")
    assert "holds, rank 1 → fails, rank –" in told
    # The text stands inside of code spans only: with them taken out, nothing of it is left.
    assert "script" not in told.replace(code(HOSTILE), "").replace(code(moved(before, after).because[0]), "")
    assert code(HOSTILE).startswith("```` ") and "\n" not in code(HOSTILE)
