"""What is told of a session: windows, losses, regret and its controls, the cache, rules, the outlook."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import amgs_app.views.sessions as sessions_views
from amgs.sessions.turn import (
    Place,
    Session,
    Turn,
    characters_a_token,
    estimate_dropped_tokens,
    find_dropped_turns,
    opening_after,
    requests,
    tokens_of_all,
    window_at,
)
from amgs.types.conversation import ToolCall
from amgs.wings.sessions.findings import action_of, findings_in
from amgs.wings.sessions.losses import find_broken_rules, look_ahead, losses
from amgs.wings.sessions.regrets import KindRate, by_kind, regrets
from amgs.wings.sessions.review import review
from amgs.wings.sessions.work import cache_line, failures_of, files_of, largest_results, shares_of, waits_of
from benchmarks.sessions.replay import at_random, harness, instead, recent_only
from tests.wings.sessions.claude_world import LISTING, ClaudeFile

STORE = "/home/ilse/orchard/store.py"
TREES = "/home/ilse/orchard/trees.py"


@pytest.fixture
def file(tmp_path: Path) -> ClaudeFile:
    return ClaudeFile(tmp_path / "orchard-1.jsonl")


def compacted(file: ClaudeFile, summary: str = "The work on the store went on.") -> ClaudeFile:
    """A session that read and changed one file, read another, ran a command, and was compacted."""
    file.say("Mend the store. You must never drop the harvest table of 4711 rows.")
    file.read(STORE)
    file.edit(STORE)
    file.read(TREES, LISTING.replace("step", "tree"))
    file.run("git log --oneline -5", "4f2a9c1 Plant the pears\n83bd002 Prune the plums in the south field")
    file.run("make check", "store.py:3: TypeError: harvest is not a table", failed=True)
    file.compact(summary)
    return file


def kinds(session: Session) -> list[str]:
    return [one.kind for one in regrets(session)]


# --- windows -----------------------------------------------------------------------------------------------


def test_a_window_after_a_compaction_begins_with_its_summary(file: ClaudeFile) -> None:
    compacted(file).answer("Going on.")
    session = file.open()
    (boundary,) = session.boundaries
    last = window_at(session, session.main[-1].number)
    assert [turn.kind for turn in last.turns] == ["summary", "said"]
    assert last.tokens == requests(session)[-1].usage.window
    assert not last.estimated
    assert not last.has_system
    assert [turn.kind for turn in opening_after(session, boundary)] == ["summary"]
    assert len(find_dropped_turns(session, boundary)) == boundary.number - 1


def test_what_a_compaction_preserved_stays_in_the_window(file: ClaudeFile) -> None:
    kept = file.say("The gate stays open.")
    file.answer("Yes.")
    file.compact("All was said.", preservedMessages=[kept])
    session = file.open()
    (boundary,) = session.boundaries
    assert [turn.text for turn in opening_after(session, boundary)] == ["The gate stays open.", "All was said."]
    assert [turn.text for turn in find_dropped_turns(session, boundary)] == ["Yes."]


def test_characters_a_token_are_those_of_the_file_within_bounds(file: ClaudeFile) -> None:
    for n in range(20):
        file.run(f"cat part-{n}.txt", "apple " * 500)
    assert 2.0 <= characters_a_token(file.open()) <= 5.0


# --- losses ------------------------------------------------------------------------------------------------


def test_a_loss_is_told_by_class_and_by_how_it_survived(file: ClaudeFile) -> None:
    summary = f"Changed {STORE}. The rest: trees.py. The check failed: harvest is not a table, a TypeError in store.py."
    (loss,) = losses(compacted(file, summary).open())
    told = {one.kind: (one.held, one.verbatim, one.reworded, one.gone) for one in loss.classes}
    assert told["path"] == (2, 1, 1, 0)
    assert told["number"] == (1, 0, 0, 1)
    assert told["constraint"] == (1, 0, 0, 1)
    assert told["command"] == (2, 0, 0, 2)
    assert told["error"] == (1, 0, 1, 0)
    gone = {one.kind: [each.text for each in one.lost] for one in loss.classes}
    assert gone["number"] == ["4711"]
    assert gone["constraint"] == ["You must never drop the harvest table of 4711 rows"]
    assert loss.before == 20_000 + sum(500 + len(r) // 3 for r in _results(file)) - 0
    assert loss.trigger == "auto"


def _results(file: ClaudeFile) -> list[str]:
    parts = [p for r in file.records for p in (r.get("message") or {}).get("content") or [] if isinstance(p, dict)]
    return [part["content"] for part in parts if part["type"] == "tool_result"]


def test_a_listing_of_a_file_holds_no_errors(file: ClaudeFile) -> None:
    file.read(STORE, '12→    raise ValueError("no")\n13→    error: str = ""')
    session = file.open()
    assert [one for turn in session.main for one in findings_in(turn) if one.kind == "error"] == []


# --- regret ------------------------------------------------------------------------------------------------


def test_a_file_that_was_changed_and_is_read_again_is_reopened(file: ClaudeFile) -> None:
    compacted(file)
    file.read(STORE)
    file.read(TREES, LISTING.replace("step", "tree"))
    session = file.open()
    found = {one.kind: one for one in regrets(session)}
    assert set(found) == {"reopened", "reread"}
    assert session.turn(found["reopened"].before).calls[0].name == "Read"
    assert found["reopened"].after > session.boundaries[0].number > found["reopened"].before
    assert found["reopened"].tokens > 200
    assert found["reopened"].seconds == 20


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("", "\n<system-reminder>\n" + "Think of the gate before you go on.\n" * 40 + "</system-reminder>"),
        ("Chunk ID: 4f2a9c\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n", ""),
    ],
)
def test_a_file_that_the_agent_wrote_is_reopened_whatever_is_put_around_it(
    file: ClaudeFile, before: str, after: str
) -> None:
    file.call("Write", "The file was written.", file_path=STORE, content="\n".join(LISTING.split("\n")[:6]))
    file.compact("The store was begun.")
    file.read(STORE, before + "\n".join(LISTING.split("\n")[:6]) + after)
    assert kinds(file.open()) == ["reopened"]


def test_what_was_not_written_was_not_known(file: ClaudeFile) -> None:
    file.call("Write", "No such folder.", failed=True, file_path=STORE, content=LISTING)
    file.compact("The store was begun.")
    file.read(STORE)
    assert kinds(file.open()) == []
    assert [(one.reads, one.changes) for one in files_of(file.open())] == [(1, 0)]
    again = compacted(ClaudeFile(file.path))
    again.call("Edit", "Not found.", failed=True, file_path=STORE, old_string="y", new_string="z")
    again.read(STORE)
    assert kinds(again.open()) == ["reopened"]


LOG = "4f2a9c1 Plant the pears\n83bd002 Prune the plums in the south field"
FOUND = "".join(f"store.py:{n}:def step_{n}(value): return value * {n} + {n + 1}\n" for n in (3, 30))


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (lambda file: [file.read(STORE), file.read(STORE)], ["reopened"]),
        (lambda file: file.read(STORE, LISTING.replace("value", "other")), []),
        (lambda file: [file.edit(STORE), file.read(STORE)], []),
        (lambda file: file.run("git log --oneline -5", LOG), ["rerun"]),
        (lambda file: [file.edit(TREES), file.run("git log --oneline -5", LOG)], []),
        (lambda file: file.call("Grep", FOUND, pattern="step_3"), ["searched"]),
        (lambda file: file.say("As I said, never drop the harvest table!"), ["repeated"]),
    ],
    ids=[
        "read twice",
        "another file by now",
        "changed first",
        "run again",
        "run after a change",
        "searched",
        "said again",
    ],
)
def test_what_is_a_regret_and_what_is_none(
    file: ClaudeFile, after: Callable[[ClaudeFile], Any], found: list[str]
) -> None:
    after(compacted(file))
    assert kinds(file.open()) == found


def test_what_the_new_window_holds_is_no_regret(file: ClaudeFile) -> None:
    compacted(file, "You must never drop the harvest table of 4711 rows.")
    file.say("You must never drop the harvest table of 4711 rows.")
    assert kinds(file.open()) == []


def test_a_pause_is_not_counted_as_time(file: ClaudeFile) -> None:
    compacted(file).wait(90)
    file.read(STORE)
    (one,) = regrets(file.open())
    assert one.seconds is None


# --- controls ----------------------------------------------------------------------------------------------


def long_session(file: ClaudeFile) -> Session:
    """A compaction after which a file is opened again, and many steps that repeat nothing."""
    for n in range(30):
        file.run(f"make part-{n}", f"built part {n} of the orchard wall, {n * 37} stones")
    compacted(file).read(STORE)
    for n in range(30, 60):
        file.run(f"make part-{n}", f"built part {n} of the orchard wall, {n * 37} stones")
    return file.open()


def test_no_more_is_dropped_than_the_window_held(file: ClaudeFile) -> None:
    for n in range(30):
        file.run(f"make part-{n}", f"built part {n} of the orchard wall, {n * 37} stones " * 40)
    file.compact("The wall stands.", preTokens=3_000)
    session = file.open()
    (boundary,) = session.boundaries
    assert tokens_of_all(session, find_dropped_turns(session, boundary)) > 3_000
    (loss,) = losses(session)
    assert loss.tokens == harness(session, ()).dropped == estimate_dropped_tokens(session, boundary) == 3_000
    kept = {turn.number for turn in session.main[:30]}
    assert 0 < estimate_dropped_tokens(session, boundary, kept) < 3_000


def test_a_price_is_none_where_the_same_is_as_frequent_elsewhere(file: ClaudeFile) -> None:
    found = regrets(long_session(file))
    told = review(file.open())
    assert told.price[0] == sum(one.tokens for one in found) > 0
    often = replace(told, kinds=tuple(replace(row, elsewhere=row.rate) for row in told.kinds))
    assert [words for words in often.wrong if "needed again" in words] == []


def test_what_compactions_cause_is_told_beside_what_is_done_again_anyway(file: ClaudeFile) -> None:
    session = long_session(file)
    rows = {row.kind: row for row in by_kind(session, regrets(session))}
    assert rows["reopened"].counted
    assert rows["reopened"].regrets == 1
    assert rows["reopened"].rate > 0
    assert rows["reopened"].elsewhere == 0.0


def test_a_way_to_drop_is_judged_by_what_it_kept(file: ClaudeFile) -> None:
    session = long_session(file)
    found = regrets(session)
    whole = harness(session, found)
    assert whole.regrets == 1
    everything = instead(session, found, "all", lambda _s, _b, gone, _budget: [turn.number for turn in gone])
    assert (everything.regrets, everything.dropped, everything.rate) == (0, 0, 0.0)
    nothing = instead(session, found, "nothing", lambda *_: ())
    assert nothing.tokens == whole.tokens
    assert recent_only(session, found).regrets <= 1
    drawn = at_random(session, found)
    assert 0 <= drawn.regrets <= 1
    assert drawn.spread is not None
    assert drawn.spread[0] <= drawn.tokens <= drawn.spread[1]


# --- the cache, rules, the outlook -------------------------------------------------------------------------


def test_a_prefix_read_again_is_told_with_what_the_file_shows(file: ClaudeFile) -> None:
    file.answer("One.")
    file.answer("Two.")
    file.wait(30)
    file.answer("Three.", cached=0)
    compacted(file).answer("Four.", cached=8_000)
    line = cache_line(file.open())
    assert [one.cause for one in line.missed] == ["pause", "compaction"]
    assert line.missed[0].lost == 20_000 + 4
    assert line.missed[0].cost == pytest.approx(1.15 * line.missed[0].lost)
    assert 0 < line.share < 1


def test_a_session_without_counts_has_no_cache_line(file: ClaudeFile) -> None:
    file.say("Hello.")
    line = cache_line(file.open())
    assert (line.requests, line.missed, line.share) == ((), (), 0.0)


@pytest.mark.parametrize(
    ("rule", "command", "broken"),
    [
        ("Do not push anything.", "git push origin main", True),
        ("Never use npm here.", "cd web && npm install", True),
        ("Don't run `mix format`.", "mix format lib", True),
        ("Never use npm here.", "pnpm install", False),
        ("Never make promises.", "make all", False),
    ],
)
def test_what_was_forbidden_and_done_is_told(file: ClaudeFile, rule: str, command: str, broken: bool) -> None:
    file.say(rule)
    file.compact("Some work was done.")
    file.run(command, "done")
    found = find_broken_rules(file.open())
    assert bool(found) == broken
    if broken:
        assert found[0].dropped is not None


def test_a_rule_that_still_stands_in_the_window_was_not_dropped(file: ClaudeFile) -> None:
    file.say("Do not push anything.")
    file.run("git push", "done")
    (one,) = find_broken_rules(file.open())
    assert one.dropped is None


def test_the_outlook_tells_files_by_when_they_were_spoken_of(file: ClaudeFile) -> None:
    file.read(STORE)
    file.read(TREES)
    file.answer("Next comes store.py.")
    file.window = 170_000
    file.answer("Nearly full.")
    outlook = look_ahead(file.open())
    assert [one.path for one in outlook.files] == [STORE, TREES]
    assert outlook.near


@pytest.mark.parametrize(
    ("command", "kind", "target"),
    [
        ("cat src/app.py", "read", "src/app.py"),
        ("sed -n 1,40p src/app.py", "read", "src/app.py"),
        ("cd web && rg login", "search", "rg login"),
        ("cat a.txt > b.txt", "write", "b.txt"),
        ("make check", "run", "make check"),
        ("nl -ba src/app.py | sed -n '10,40p'", "read", "src/app.py"),
        ("cd src && head -n 20 app.py 2>/dev/null", "read", "src/app.py"),
        ("bash -lc 'cat src/app.py'", "read", "src/app.py"),
        ("cat src/app.py | grep 'def; x'", "search", "cat src/app.py | grep 'def; x'"),
        ("sed -i 's/a/b/' src/app.py", "write", "src/app.py"),
        ("cat <<'EOF' > src/app.py\nmake it\nEOF", "write", "src/app.py"),
        ("cat src/app.py && make check", "run", "cat src/app.py && make check"),
        ("git show HEAD:src/app.py", "read", "src/app.py"),
        ("echo 'unclosed", "run", "echo 'unclosed"),
    ],
)
def test_a_command_is_told_by_what_it_does(file: ClaudeFile, command: str, kind: str, target: str) -> None:
    file.run(command, "shown")
    action = action_of(file.open().main[0])
    assert action is not None
    assert (action.kind, action.target) == (kind, target)


PATCH = "*** Begin Patch\n*** Update File: /mill/a.py\n@@\n+x\n*** Add File: /mill/b.py\n+y\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "targets"),
    [
        ("shell_command", {"command": "sed -n 1,9p a.py", "workdir": "/mill"}, "read", ("/mill/a.py",)),
        (
            "shell",
            {"command": ["bash", "-lc", "cat a.py b.py"], "workdir": "/mill"},
            "read",
            ("/mill/a.py", "/mill/b.py"),
        ),
        ("exec_command", {"cmd": "nl -ba /mill/a.py | sed -n 1,9p"}, "read", ("/mill/a.py",)),
        ("any_runner", {"command": "cat a.py", "cwd": "/mill"}, "read", ("/mill/a.py",)),
        ("apply_patch", PATCH, "write", ("/mill/a.py", "/mill/b.py")),
        ("apply_patch", {"input": PATCH}, "write", ("/mill/a.py", "/mill/b.py")),
        ("shell", {"command": ["apply_patch", PATCH]}, "write", ("/mill/a.py", "/mill/b.py")),
        ("exec", f"await tools.apply_patch({json.dumps(PATCH)});", "write", ("/mill/a.py", "/mill/b.py")),
        (
            "exec",
            'const r = await tools.exec_command({cmd:"sed -n \'1,9p\' a.py","workdir":"/mill"}); text(r.output);',
            "read",
            ("/mill/a.py",),
        ),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/mill/a.py"}, "read", ("/mill/a.py",)),
    ],
)
def test_what_a_call_does_is_read_from_its_command(
    tool: str, arguments: object, kind: str, targets: tuple[str, ...]
) -> None:
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    action = action_of(Turn(1, "assistant", "call", "", Place(1), calls=(ToolCall("c", tool, told),)))
    assert action is not None and (action.kind, action.targets) == (kind, targets)


def test_a_rule_is_not_broken_by_words_in_quotes(file: ClaudeFile) -> None:
    file.say("Never run make deploy.")
    file.run("git commit -m 'note; make deploy later'", "done")
    assert not find_broken_rules(file.open())
    file.run("cd web && sudo make deploy", "done")
    assert [one.command for one in find_broken_rules(file.open())]


def test_a_patch_by_a_whole_path_and_a_read_by_a_short_one_are_of_one_file(file: ClaudeFile) -> None:
    file.say("Mend the store.")
    file.call("exec_command", LISTING, cmd="nl -ba store.py | sed -n 1,80p", workdir="/home/ilse/orchard")
    file.call(
        "shell",
        "done",
        command=[
            "apply_patch",
            f"*** Begin Patch\n*** Update File: {STORE}\n@@\n+    return 0  # mended\n*** End Patch",
        ],
    )
    file.compact("The work went on.")
    file.answer("I look again.")
    file.call("shell_command", LISTING, command="sed -n 1,80p store.py", workdir="/home/ilse/orchard")
    file.answer("Done.")
    assert [one.kind for one in regrets(file.open())] == ["reopened"]


@pytest.mark.parametrize(
    ("times", "rate", "anyway", "says"),
    [
        (5, 198.1, 0.0, "stands out"),
        (1, 198.1, 0.0, "too seldom"),
        (5, 2.0, 3.0, "as frequent elsewhere"),
        (5, 2.0, None, "no other place"),
    ],
)
def test_what_is_said_of_a_figure_agrees_with_it(times: int, rate: float, anyway: float | None, says: str) -> None:
    assert says in KindRate("reread", times, 10, rate, anyway, counted=False).standing


def test_what_was_told_of_a_session_goes_with_it(file: ClaudeFile) -> None:
    session = long_session(file)
    review(session)
    held = weakref.ref(session)
    del session
    gc.collect()
    assert held() is None


def test_what_was_read_again_and_what_failed_is_told_of_any_session(tmp_path: Path) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.say("Mend the store.")
    file.read("/home/ilse/orchard/store.py")
    file.run("make check", "store.py:3: TypeError: harvest is not a table", failed=True)
    file.edit("store.py")
    file.run("make check", "all well")
    file.read("/home/ilse/orchard/store.py")
    file.read("/home/ilse/orchard/trees.py", "\n".join(f"tree number {n} stands" for n in range(40)))
    file.wait(5)
    file.run("make check", "all well")
    session = file.open()
    store, trees = files_of(session)
    assert (store.path, store.reads, store.again, store.changes) == ("/home/ilse/orchard/store.py", 2, 1, 1)
    assert (trees.reads, trees.again, trees.changes) == (1, 0, 0)
    (failed,) = failures_of(session)
    assert (failed.what, failed.times, failed.last, failed.mended) == ("make check", 1, 5, 9)
    assert "TypeError" in failed.says
    assert waits_of(session)[0].seconds == 310
    assert [large.what for large in largest_results(session)][:2] == ["Read /home/ilse/orchard/store.py"] * 2
    shares = shares_of(session)
    assert sum(share.tokens for share in shares) == tokens_of_all(session, session.main)
    assert {(share.kind, share.tool) for share in shares} >= {("result", "Read"), ("call", "Edit"), ("said", "")}


def test_a_brief_holds_what_the_rest_needs_within_its_tokens_and_no_secret(tmp_path: Path) -> None:
    from amgs.sessions.opening import open_session
    from amgs.wings.sessions.brief import as_first_message, write_brief

    sample = Path(sessions_views.__file__).with_name("sample.jsonl")
    session = open_session(sample)
    for budget in (200, 500, 1_000, 2_000):
        brief = write_brief(session, budget)
        assert brief.tokens <= budget and "## Task" in brief.text
        assert all(item.turn <= len(session.turns) for item in brief.items)
    assert "The dome stops up to two degrees short" in brief.text and "make deploy" in brief.text
    assert "encoder.py: changed 2 times (turn 51)" in brief.text
    assert "## Failed" in brief.text or not any(turn.failed for turn in session.main)
    codex, claude = (json.loads(as_first_message(brief.text, name)) for name in ("codex", "claude-code"))
    assert codex["payload"]["content"][0]["text"] == claude["message"]["content"] == brief.text

    secret = "ghp_" + "aB3dE6gH9" * 4
    said = sample.read_text().replace("The dome stops up to two", f"Use {secret}. {'x ' * 280}{secret} The dome stops")
    leaking = tmp_path / "leaking.jsonl"
    leaking.write_text(said)
    brief = write_brief(open_session(leaking), 1_000)
    assert secret[:12] not in brief.text and "[masked: GitHub token #" in brief.text
