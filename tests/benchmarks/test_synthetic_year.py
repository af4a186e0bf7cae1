"""A synthetic life is the same for the same seed, and its memory does what decay and use say it must."""

from __future__ import annotations

from benchmarks.synthetic_year import run, simulate


def test_what_lasts_outlives_what_passes() -> None:
    found = simulate(days=34, seed=7)
    assert [m.month for m in found.months] == [1, 2]
    assert sum(m.arrived for m in found.months) >= sum(came for _, came in found.survived.values()) > 40
    for month in found.months:
        assert 0 < month.mean_relevance < 1 and month.queries > 0 and month.useful > 0
    for kind in ("person", "procedure"):
        alive, came = found.survived[kind]
        assert alive == came
    alive, came = found.survived["observation"]
    assert 0 < alive < came
    assert found.brier is not None and 0 < found.brier < 0.5 and found.outcomes > 40


def test_the_bench_tells_each_month_and_what_is_left_of_each_kind() -> None:
    found = run(34, 7)
    months, left = found.tables
    assert [row[0] for row in months.rows] == ["1", "2"] and len(months.columns) == len(months.rows[0])
    assert {row[0] for row in left.rows} <= {"value", "person", "procedure", "observation", "task"}
    assert 0 < found.metrics["year_brier"] < 0.5
