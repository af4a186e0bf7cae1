"""What was assembled and what was learned from it, verb by verb on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amgs.diagnosis.diagnosing import Diagnosing
from amgs.exchange.question_cases import read_cases
from amgs.types.question_case import CaseChange, CaseComparison, CaseOutcome
from tests.tui.headless_world import Amgs, make, prepare

SESSION = ("frame", "assemble", "SESSION", "--query", "why did the dome stall?")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    return make(tmp_path, capsys, prepared)


def asked(amgs: Amgs, *words: str) -> Any:
    """The verb's result as JSON; its table and its CSV are written too."""
    assert amgs("--format", "json", *words) == 0, amgs.err
    return json.loads(amgs.out)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "q.jsonl"
    pairs = [
        ("dome stalled at azimuth", "stall.md"),
        ("encoder slipped", "motor.md"),
        ("goat terrace", "goat.md"),
    ]
    lines = [
        {"id": f"q{n}-{source}", "question": text, "kind": "single", "answers": [source]}
        for n in range(5)
        for text, source in pairs
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_frame_of_ones_own_is_defined_assembled_and_deleted(amgs: Amgs) -> None:
    made = asked(
        amgs, "frame", "define", "domes", "--from", "TASK", "--status", "consolidated", "--meta", "source=stall.md",
        "--select", "top_k", "--top-k", "1", "--assembly", "raw", "--budget", "90", "--weights", "0,0,0,1,0",
        "--window", "9000", "--pool", "5", "--hops", "0", "--refresh-hours", "2", "--purpose", "the dome",
    )  # fmt: skip
    assert (made["name"], made["budget"], made["rule"]["top_k"]) == ("DOMES", 90, 1)
    frame = asked(amgs, "frame", "assemble", "DOMES", "--query", "dome")
    assert [c["block"]["meta"]["source"] for c in frame["candidates"]] == ["stall.md"]
    for merge, strategy in (("union", "static"), ("intersection", "dynamic"), ("priority_chain", "priority")):
        words = (
            "--child",
            "SELF:0.5",
            "--child",
            "DOMES:0.5",
            "--merge",
            merge,
            "--budget-strategy",
            strategy,
        )
        assert amgs("frame", "define", "BOTH", *words) == 0
        both = asked(amgs, "frame", "assemble", "BOTH", "--query", "dome", "--budget", "300")
        assert both["tokens"] <= 300 and [one["child"] for one in both["ledger"]] == ["SELF", "DOMES"]
    assert amgs("frame", "define", "DOMES", "--child", "BOTH") == 2 and "contain" in amgs.err
    assert amgs("frame", "define", "DOMES", "--weights", "1,1,1,1,1") == 2
    assert amgs("frame", "delete", "DOMES") == 2 and "child of BOTH" in amgs.err
    assert amgs("frame", "delete", "BOTH") == 0 and amgs("frame", "delete", "DOMES") == 0
    assert "DOMES" not in {one["name"] for one in asked(amgs, "frame", "list")["definitions"]}


def test_every_field_of_a_definition_has_its_option_and_none_takes_a_limit_away(amgs: Amgs) -> None:
    given = "--purpose p --weights .2,.2,.2,.2,.2 --category task --status raw --meta kind=note --self-only"
    given += (
        " --since 2026-01-01 --until 2026-02-01 --used-since 2026-01-02 --window 9 --gather filter --pool 7"
    )
    given += (
        " --hops 2 --select top_k --top-k 3 --threshold .1 --similarity-share .2 --assembly raw --budget 99"
    )
    given += " --refresh-hours 2 --merge union --budget-strategy dynamic --dedup .9 --rescore 1,0,0,0,0"
    assert amgs("frame", "define", "WHOLE", *given.split()) == 0
    made = asked(amgs, "frame", "show", "WHOLE")
    plain = asked(amgs, "frame", "show", "ATTENTION")
    same = {key for key in made if made[key] == plain[key]}
    assert same == {"children"}, "every field is another than that of the frame it started from"
    rule = made["rule"]
    assert {key for key in rule if rule[key] == plain["rule"][key]} == set()
    same = {key for key in rule["filter"] if rule["filter"][key] == plain["rule"]["filter"][key]}
    assert same == {"current", "as_of"}, "what holds, and when, is said at each assembly"
    freed = "--category none --meta none --not-self-only --since none --until none --used-since none"
    freed += " --window 0 --select budget --top-k 0 --dedup 0 --rescore none"
    assert amgs("frame", "define", "WHOLE", *freed.split()) == 0
    made = asked(amgs, "frame", "show", "WHOLE")
    assert made["rule"]["filter"] == {**plain["rule"]["filter"], "statuses": ["raw"]}
    assert (made["rule"]["window_hours"], made["rule"]["top_k"]) == (None, None)
    assert (made["semantic_threshold"], made["rescore"]) == (None, None)
    assert amgs("frame", "define", "WHOLE", "--child", "SELF:1") == 0
    assert amgs("frame", "define", "WHOLE", "--child", "none") == 0
    assert asked(amgs, "frame", "show", "WHOLE")["children"] == []
    assert amgs("frame", "define", "WHOLE", "--since", "soon") == 2 and "Invalid time" in amgs.err
    assert amgs("frame", "define", "WHOLE", "--category", "none", "--category", "task") == 2


def test_a_shipped_frame_is_changed_shown_as_such_and_reset(amgs: Amgs) -> None:
    assert amgs("frame", "define", "SELF", "--budget", "99") == 0
    assert amgs("frame", "list") == 0 and "frame reset SELF" in amgs.out
    assert amgs("frame", "reset", "SELF") == 0
    assert asked(amgs, "frame", "show", "SELF")["budget"] == 512
    assert amgs("frame", "list") == 0 and "frame reset" not in amgs.out
    assert amgs("frame", "reset", "NOWHERE") == 2


def test_a_cache_serves_the_next_process_and_a_replay_is_equal(amgs: Amgs) -> None:
    assert not asked(amgs, "frame", "cached", "SELF")["fresh"]
    assert asked(amgs, "frame", "cached", "SELF")["fresh"]
    assert amgs("frame", "cached", "SELF") == 0 and "from the cache" in amgs.out
    frame = asked(amgs, *SESSION)
    assert amgs("ingest", "The dome stalled again.") == amgs("consolidate") == 0
    (latest, *_) = asked(amgs, "frame", "history", "SESSION")["assemblies"]
    assert latest["id"] == frame["id"]
    assert asked(amgs, "frame", "replay", frame["id"][:8])["equal"]
    assert amgs("frame", "replay", frame["id"]) == 0 and "equal" in amgs.out
    both = asked(amgs, "frame", "compare", frame["id"], "SESSION", "--query", "why did the dome stall?")
    assert 0 < both["jaccard"] < 1 and any(m["left_rank"] is None for m in both["moved"])
    assert amgs("frame", "compare", "TASK", "TASK", "--query", "dome", "--weights-b", "1,0,0,0,0") == 0
    assert "overlap" in amgs.out
    early = ("frame", "compare", "TASK", "TASK", "--query", "dome", "--at-a", "2026-02-22T00:00:00")
    assert asked(amgs, *early)["left"]["blocks"] == 0


def test_calibration_refuses_plans_applies_and_is_undone(
    amgs: Amgs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert amgs("calibrate") == 2 and "20 are needed" in amgs.err
    lines = ['frame assemble SESSION --query "why did the dome stall?"']
    for one in asked(amgs, *SESSION)["candidates"]:
        if one["fate"] == "selected":
            verdict = "useful" if one["block"]["meta"]["source"] == "stall.md" else "useless"
            lines.append(f"feedback {verdict} {one['block']['id']}")
    script = tmp_path / "judged.txt"
    script.write_text("\n".join(lines * 8), encoding="utf-8")
    assert amgs("run", str(script)) == 0
    assert asked(amgs, "calibration", "groups")["groups"][0]["outcomes"] >= 20
    plan = asked(amgs, "calibrate", "--method", "platt", "--dry-run")
    assert plan["forecast"]["used"] and asked(amgs, "operations")["operations"][0]["kind"] != "calibrate"
    assert amgs("calibrate", "--dry-run") == 0 and "would change" in amgs.out
    cases = tmp_path / "cases.yml"
    cases.write_text("- question: why did the dome stall?\n  must_contain: [dome]\n", encoding="utf-8")
    assert amgs("calibrate", "--dry-run", "--questions", str(cases)) == 0
    assert "of 1 question would move; 0 that hold now would fail" in amgs.out
    assert _refused(amgs, cases, monkeypatch)
    assert amgs("calibrate") == 0 and "changed the forecasts and 0 edges" in amgs.out
    done = asked(amgs, "operations")["operations"][0]
    assert done["kind"] == "calibrate"
    assert amgs("undo", str(done["id"])) == amgs("verify") == 0
    assert amgs("calibration", "table", "--by", "relation", "--value", "related") == 0


def _refused(amgs: Amgs, cases: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a calibration stops before it changes anything, where a question that holds would fail."""
    (case,) = read_cases(cases)
    failing = CaseChange(
        CaseOutcome(case), CaseOutcome(case, ("it is gone",)), ("it went from rank 1 to 12",)
    )
    with monkeypatch.context() as worse:
        worse.setattr(Diagnosing, "calibrated", lambda *_, **__: CaseComparison(0, (failing,)))
        before = asked(amgs, "operations")["operations"][0]
        assert amgs("calibrate", "--questions", str(cases)) == 2 and "Nothing was changed" in amgs.err
        assert asked(amgs, "operations")["operations"][0] == before
        return amgs("calibrate", "--dry-run", "--questions", str(cases)) == 0 and "rank 1 to 12" in amgs.out


def test_tuning_proposes_and_applies_only_when_asked(amgs: Amgs, questions: Path) -> None:
    given = ("TASK", "--questions", str(questions), "--trials", "15")
    found = asked(amgs, "tune", *given)
    assert found["proposed_held_out"]["questions"] + found["proposed_tuning"]["questions"] == 15
    assert not found["applied"] and amgs("tune", *given, "--method", "bayes", "--apply") == 0
    assert amgs("tune", *given, "--against", "1,0,0,0,0") == 0
    assert "95 % interval" in amgs.out
    assert amgs("tune", "SESSION", "--questions", str(questions)) == 2
    assert amgs("tune", "TASK", "--questions", "missing.jsonl") == 3


def test_metrics_and_monitors_tell_what_they_rest_on(amgs: Amgs, questions: Path) -> None:
    found = {m["name"]: m for m in asked(amgs, "metrics", "--questions", str(questions))["metrics"]}
    assert found["recall"]["value"] == 1 and found["recall"]["met"] and found["recall held out"]["value"] == 1
    assert amgs("metrics") == 0 and "attention stability" in amgs.out
    assert asked(amgs, "monitor", "--record")["recorded"]
    assert amgs("monitor") == 0 and "before" in amgs.out and "centrality drift" in amgs.out


@pytest.mark.parametrize("form", ["json", "graphml"])
def test_a_memory_moves_to_another_store(amgs: Amgs, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    assert amgs("export", str(path), "--format", form) == 0 and form in amgs.out
    assert amgs("import", str(path)) == 2
    amgs.store = tmp_path / "other.duckdb"
    assert amgs("import", str(path)) == amgs("verify") == 0
    assert asked(amgs, "search", "dome")["hits"]
