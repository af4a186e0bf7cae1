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
from amgs_app.calls.registry import standard
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import draw
from amgs_app.render.encode import to_json
from amgs_app.results.focus import CorpusRead, Purged, Rebuilt, SpanDescribed, SpanList
from amgs_app.shell.output import as_text, exit_code_of
from amgs_focus.errors import CtxError
from amgs_focus.tree.check import LifetimeCheck
from tests.tui.real_world import Desk


class ShownDesk(Desk):
    """What a line gives can be shown, in every form."""

    def __call__(self, line: str) -> Any:
        result = super().__call__(line)
        assert as_text(result, "table", width=100)
        json.loads(to_json(result))
        call = standard().parse(line)
        if call is not None and call.operation.pane is not None:
            draw(self.session, result, Canvas(100, 30), self.session.look_at)
        return result


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("AMGS_FORGETTING__HALF_LIFE", "64")
    monkeypatch.setenv("AMGS_FORGETTING__RECENT", "1024")
    made = ShownDesk(tmp_path)
    yield made
    made.session.close()


def test_a_purge_wants_a_yes_and_then_the_tokens_are_gone(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    desk("focus forget L1#3")
    planned = desk("focus forget --purge --dry-run")
    assert isinstance(planned, Purged) and (planned.tokens, planned.bytes, planned.act) == (32, 128, None)
    with pytest.raises(UsageError, match="delete 32 tokens"):
        desk("focus forget --purge")
    assert desk("focus forget --purge --yes").act.kind == "purge"
    rebuilt = desk("focus rebuild")
    assert isinstance(rebuilt, Rebuilt) and rebuilt.purged == 1
    desk.session.close()
    raw = (desk.folder / "life" / "L0.ctx").read_bytes()[64:]
    assert raw[4 * 96 : 4 * 128] == bytes(128) and raw[4 * 128 :] != bytes(len(raw) - 512)


def test_spans_are_listed_found_and_described(desk: Desk) -> None:
    desk("focus open DIR/night.txt --question why")
    listed = desk("focus view --texts")
    assert isinstance(listed, SpanList) and [row.kept.span.kind for row in listed.rows] == ["memory", "question"]
    described = desk("focus set trust 0.25 --text 0")
    assert isinstance(described, SpanDescribed) and described.after.trust == 0.25
    desk("focus set domain log --text 0")
    found = desk("focus view --find LOG")
    assert found.total == 1 and found.rows[0].kept.about.domain == "log"
    assert found.rows[0].kept.recency == listed.lifetime - found.rows[0].kept.span.end
    assert desk("focus set domain '' --text 0").after.domain == ""
    for line, why in (
        ("trust 1 --text 9", "no span 9"),
        ("colour red --text 0", "no key 'colour'"),
        ("trust 2 --text 0", r"\[0, 1\]"),
    ):
        with pytest.raises(UsageError, match=why):
            desk(f"focus set {line}")


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
    about = desk("focus view --find guard").rows[0].kept.about
    assert about.language == "python" and about.bridges == ("README.md#Dome",) and about.time
    (home / "src" / "guard.py").write_text("def stall_guard(motor):\n    return motor.stop()\n")
    again = desk("focus open DIR/corp --lifetime DIR/life")
    assert again.plan.unchanged == ("README.md",) and again.plan.replaced == ("src/guard.py",)
    versions = [row.kept.about.version for row in desk("focus view --find guard.py").rows]
    assert len(set(versions)) == 2
    with pytest.raises(InputError, match="nowhere"):
        desk("focus open DIR/nowhere")
    (desk.folder / "empty").mkdir()
    with pytest.raises(UsageError, match="contains no text"):
        desk("focus open DIR/empty")


def test_a_damaged_lifetime_is_named_file_by_file_and_mended(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    with pytest.raises(CtxError, match="is in use by"):
        desk("focus open --lifetime DIR/life --check")
    length = desk("focus view").lifetime
    desk.session.close()
    desk.session = desk.begin()
    life = desk.folder / "life"
    sound = desk("focus open --lifetime DIR/life --check")
    assert isinstance(sound, LifetimeCheck) and not sound.faults and sound.tokens == length
    os.truncate(life / "L0.ctx", 64 + 4 * 70)
    with (life / "L1.ctx").open("r+b") as file:
        file.seek(20)
        file.write(b"\xff\xff")
    broken = desk("focus open --lifetime DIR/life --check")
    assert exit_code_of(broken) == 4
    assert {one.name for one in broken.faults} >= {"L0.ctx", "L1.ctx"}
    with pytest.raises(CtxError):
        desk("focus open --lifetime DIR/life")
    (life / "L1.ctx").unlink()
    (life / "L2.ctx").unlink()
    mended = desk("focus open --lifetime DIR/life --mend")
    assert [one.name for one in mended.files if one.mended] == ["L0.ctx"]
    assert desk("focus open --lifetime DIR/life").view.lifetime == 64
    desk.session.close()
    desk.session = desk.begin()
    assert not desk("focus open --lifetime DIR/life --check").faults
    with pytest.raises(CtxError, match="holds no lifetime"):
        desk("focus open --lifetime DIR/corp --check")


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
    assert f"{576 * 2 / 31:.1f}" in manual
