"""A lifetime that is kept: forgetting, tags, metadata and corpora from the command line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import InputError, UsageError
from amgs_app.engine import Engine, Options
from amgs_app.operations.standard import look_of, standard
from amgs_app.render.catalogue import draw
from amgs_app.render.encode import to_json
from amgs_app.render.figures.canvas import Canvas
from amgs_app.results.focus import (
    Brought,
    CorpusRead,
    Forgotten,
    ForgottenList,
    PolishedGists,
    Purged,
    Rebuilt,
    SpanDescribed,
    SpanList,
    Tagged,
)
from amgs_app.session.operator import Operator
from amgs_app.shell.output import as_text, exit_code_of
from amgs_focus.errors import CtxError, FocusError
from amgs_focus.tree.check import LifetimeCheck
from amgs_focus.views import EntryExplanation

TEXT = "The dome stalled at azimuth 214. The encoder slipped in the cold night and the motor stopped. "


class Desk:
    """A session on the tiny model, spoken to in lines; DIR is its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "night.txt").write_text(TEXT * 40, encoding="utf-8")
        self.session = self.begin()

    def begin(self) -> Operator:
        return Operator(Engine(Options(store=str(self.folder / "x.duckdb"), model="tiny")))

    def __call__(self, line: str) -> Any:
        registry = standard()
        call = registry.parse(line.replace("DIR", str(self.folder)))
        assert call is not None
        result = self.session.run(call)
        assert as_text(result, "table", width=100)
        json.loads(to_json(result))
        if call.operation.pane is not None:
            draw(self.session, result, Canvas(100, 30), look_of(self.session))
        return result


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("AMGS_FORGETTING__HALF_LIFE", "64")
    monkeypatch.setenv("AMGS_FORGETTING__RECENT", "1024")
    made = Desk(tmp_path)
    yield made
    made.session.close()


def test_a_kept_lifetime_goes_on_where_it_was_left(desk: Desk) -> None:
    first = desk("focus open DIR/night.txt --lifetime DIR/life")
    desk("focus step 5")
    length = desk("focus view").lifetime
    desk.session.close()
    desk.session = desk.begin()
    again = desk("focus open --lifetime DIR/life")
    assert again.view.lifetime == length == first.view.lifetime + 5
    more = desk("focus open DIR/night.txt --lifetime DIR/life")
    assert more.view.lifetime == length + first.view.lifetime
    desk("focus open DIR/night.txt")  # another one lets the folder go
    desk("focus check DIR/life")


def test_the_rules_forget_what_is_long_unused_and_it_can_be_brought_back(desk: Desk) -> None:
    desk("focus open DIR/night.txt --question why")
    planned = desk("focus forget --dry-run --limit 5")
    assert isinstance(planned, Forgotten) and planned.act is None
    assert len(planned.plan.nodes) == 5 and planned.plan.tokens == 160
    assert not desk.session.engine.focus.tree.catalogue.sealed.runs
    done = desk("focus forget --limit 5 --why 'room is short'")
    assert done.act.why == "room is short" and done.act.nodes == planned.plan.nodes
    listed = desk("focus forget --list")
    assert isinstance(listed, ForgottenList) and [row.in_force for row in listed.rows] == [5]
    back = desk("focus restore")
    assert isinstance(back, Brought) and back.gists == 5
    assert not desk.session.engine.focus.tree.catalogue.sealed.runs
    with pytest.raises(UsageError, match="Nothing is forgotten"):
        desk("focus restore")


def test_what_is_forgotten_is_refused_by_name_and_why_says_so(desk: Desk) -> None:
    desk("focus open DIR/night.txt")
    shown = next(entry for entry in desk("focus view").entries if entry.level)
    desk(f"focus forget {shown.position}")
    desk(f"focus steer {shown.position} expand")
    stepped = desk("focus refocus")
    decision = next(one for one in stepped.refocus.decisions if one.node == shown.node)
    assert (decision.reason, decision.detail) == ("illegal_level", "its detail was forgotten")
    why = desk(f"focus why {shown.position}")
    assert isinstance(why, EntryExplanation) and why.keeping is not None
    assert why.keeping.forgotten and why.expand_cost is None
    assert "can be restored" in as_text(why, "table", width=100)
    assert "restored" in why.would


def test_a_purge_wants_a_yes_and_then_the_tokens_are_gone(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    desk("focus forget L1#3")
    planned = desk("focus purge --dry-run")
    assert isinstance(planned, Purged) and (planned.tokens, planned.bytes, planned.act) == (32, 128, None)
    with pytest.raises(UsageError, match="delete 32 tokens"):
        desk("focus purge")
    assert desk("focus purge --yes").act.kind == "purge"
    rebuilt = desk("focus rebuild")
    assert isinstance(rebuilt, Rebuilt) and rebuilt.purged == 1
    desk.session.close()
    raw = (desk.folder / "life" / "L0.ctx").read_bytes()[64:]
    assert raw[4 * 96 : 4 * 128] == bytes(128) and raw[4 * 128 :] != bytes(len(raw) - 512)


def test_gists_of_the_window_are_polished_within_a_budget_and_made_anew_by_a_rebuild(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    done = desk("focus rebuild --polish --blocks 3")
    assert isinstance(done, PolishedGists) and len(done.blocks) == 3
    assert {e.index for e in done.view.entries if e.polished} == set(done.blocks)
    found = desk(f"focus why L1#{done.blocks[0]}")
    other, before, after = found.keeping.distances
    shown = draw(desk.session, found, Canvas(160, 40), look_of(desk.session))
    said = f"from its tokens {after:.2f} nats, was {before:.2f}, neighbour {other:.2f}"
    assert said in shown.plain
    why = as_text(found, "table", width=200)
    assert re.search(
        r"polished: \d\.\d\d nats a token from its tokens, \d\.\d\d before, a neighbour's \d\.\d\d", why
    )
    assert [(row.act.kind, len(row.act.nodes)) for row in desk("focus forget --list").rows] == [("polish", 3)]
    desk("focus open --lifetime DIR/life")
    again = desk("focus rebuild --polish --blocks 2 --seconds 0")
    assert not set(again.blocks) & set(done.blocks) and again.blocks
    assert not any(entry.polished for entry in desk("focus rebuild").view.entries)


def test_what_was_asked_for_since_can_be_brought_back_by_that(desk: Desk) -> None:
    desk("focus open DIR/night.txt")
    desk("focus set tau_expand 0.0")
    for entry in [entry for entry in desk("focus view").entries if entry.level][:6]:
        desk(f"focus forget {entry.node}")
    for _ in range(3):
        desk("focus refocus")
    wanted = sum(row.wanted for row in desk("focus forget --list").rows)
    if wanted == 0:
        with pytest.raises(FocusError, match="nothing to restore"):
            desk("focus restore --wanted 1")
    else:
        assert desk("focus restore --wanted 1").gists == wanted


def test_a_tag_keeps_a_span_from_rules_and_hands(desk: Desk) -> None:
    desk("focus open DIR/night.txt")
    tagged = desk("focus tag L1#2 incident")
    assert isinstance(tagged, Tagged) and (tagged.tag.start, tagged.tag.end) == (64, 96)
    with pytest.raises(FocusError, match="tag"):
        desk("focus forget L1#2")
    assert desk("focus forget --dry-run").plan.nodes.runs[0][:3] == (1, 0, 2)
    with pytest.raises(UsageError, match="no tag 'bug'"):
        desk("focus tag L1#2 bug --release")
    assert desk("focus tag L1#2 incident --release").tags == ()
    assert len(desk("focus forget L1#2").plan.nodes) == 1
    with pytest.raises(UsageError, match="A tag must be a word"):
        desk("focus tag L1#2 ' '")


def test_spans_are_listed_found_and_described(desk: Desk) -> None:
    desk("focus open DIR/night.txt --question why")
    listed = desk("focus spans")
    assert isinstance(listed, SpanList) and [row.kept.span.kind for row in listed.rows] == [
        "memory",
        "question",
    ]
    described = desk("focus describe 0 trust 0.25")
    assert isinstance(described, SpanDescribed) and described.after.trust == 0.25
    desk("focus describe 0 domain log")
    found = desk("focus spans LOG")
    assert found.total == 1 and found.rows[0].kept.about.domain == "log"
    assert found.rows[0].kept.recency == listed.lifetime - found.rows[0].kept.span.end
    assert desk("focus describe 0 domain ''").after.domain == ""
    for line, why in (
        ("9 trust 1", "no span 9"),
        ("0 colour red", "no key 'colour'"),
        ("0 trust 2", r"\[0, 1\]"),
    ):
        with pytest.raises(UsageError, match=why):
            desk(f"focus describe {line}")


def corpus(folder: Path) -> Path:
    home = folder / "corp"
    (home / "src").mkdir(parents=True)
    (home / ".git").mkdir()
    (home / ".git" / "x.md").write_text("not this")
    (home / "README.md").write_text("# Dome\n\nSee `stall_guard`.\n")
    (home / "src" / "guard.py").write_text("def stall_guard(motor):\n    motor.stop()\n")
    (home / "bad.txt").write_bytes(b"\xff\xfe")
    return home


def test_a_corpus_is_planned_read_in_and_kept_up_to_date(desk: Desk) -> None:
    home = corpus(desk.folder)
    planned = desk("focus open DIR/corp --lifetime DIR/life --dry-run")
    assert isinstance(planned, CorpusRead) and not planned.read
    assert [one.path for one in planned.plan.sections] == ["README.md", "src/guard.py"]
    assert [bridge.names for bridge in planned.plan.bridges] == [("stall_guard",)]
    assert planned.skipped == (("bad.txt", "it is not UTF-8 (byte 0)"),)
    assert not (desk.folder / "life").exists()
    desk("focus open DIR/corp --lifetime DIR/life --question 'what is stall_guard?'")
    about = desk("focus spans guard").rows[0].kept.about
    assert about.language == "python" and about.bridges == ("README.md#Dome",) and about.time
    (home / "src" / "guard.py").write_text("def stall_guard(motor):\n    return motor.stop()\n")
    again = desk("focus open DIR/corp --lifetime DIR/life")
    assert again.plan.unchanged == ("README.md",) and again.plan.replaced == ("src/guard.py",)
    versions = [row.kept.about.version for row in desk("focus spans guard.py").rows]
    assert len(set(versions)) == 2
    with pytest.raises(InputError, match="nowhere"):
        desk("focus open DIR/nowhere")
    (desk.folder / "empty").mkdir()
    with pytest.raises(UsageError, match="contains no text"):
        desk("focus open DIR/empty")


def test_a_damaged_lifetime_is_named_file_by_file_and_mended(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    with pytest.raises(CtxError, match="is in use by"):
        desk("focus check DIR/life")
    length = desk("focus view").lifetime
    desk.session.close()
    desk.session = desk.begin()
    life = desk.folder / "life"
    sound = desk("focus check DIR/life")
    assert isinstance(sound, LifetimeCheck) and not sound.faults and sound.tokens == length
    os.truncate(life / "L0.ctx", 64 + 4 * 70)
    with (life / "L1.ctx").open("r+b") as file:
        file.seek(20)
        file.write(b"\xff\xff")
    broken = desk("focus check DIR/life")
    assert exit_code_of(broken) == 4
    assert {one.name for one in broken.faults} >= {"L0.ctx", "L1.ctx"}
    with pytest.raises(CtxError):
        desk("focus open --lifetime DIR/life")
    (life / "L1.ctx").unlink()
    (life / "L2.ctx").unlink()
    mended = desk("focus check DIR/life --mend")
    assert [one.name for one in mended.files if one.mended] == ["L0.ctx"]
    assert desk("focus open --lifetime DIR/life").view.lifetime == 64
    desk.session.close()
    desk.session = desk.begin()
    assert not desk("focus check DIR/life").faults
    with pytest.raises(CtxError, match="holds no lifetime"):
        desk("focus check DIR/corp")


def test_the_manual_runs_as_it_stands_and_its_figures_are_computed(desk: Desk) -> None:
    from amgs_focus.tree.span_metadata import FATES
    from tests.focus.storage_size import TEN_YEARS, Sizes, folder_bytes, said, table

    manual = (Path(__file__).parents[2] / "docs" / "lifetime.md").read_text(encoding="utf-8")
    corpus(desk.folder).rename(desk.folder / "notes")
    blocks = re.findall(r"```amgs\n(.*?)```", manual, flags=re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) > 15
    for line in lines:
        desk(re.sub(r"\b(night\.txt|life|corpus|notes)(?= |$)", r"DIR/\1", line))
    for fate in FATES:
        assert f"`{fate}`" in manual
    assert (
        table(
            (
                ("the specification's robot (4,096 values)", Sizes(4096)),
                ("the same with 576 values", Sizes(576)),
                ("this program: tokens and gists of 576 values", Sizes(576, 4)),
            )
        )
        in manual
    )
    for size in (10**6, 10**8, 10 * TEN_YEARS):
        assert said(folder_bytes(size, 576)) in manual
    assert said(folder_bytes(10**8, 576, slots=8)) in manual
    assert f"{576 * 2 / 31:.1f}" in manual
