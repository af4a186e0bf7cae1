"""What the focus can be given wrong, through the program: one sentence, a way out, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs_focus.errors import CtxError, TraceError
from amgs_focus.gist import PointerEncoder
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import ModelCard
from amgs_focus.tree.gist_tree import LifetimeTree
from tests.tui.real_world import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.session.close()


class OtherVocabulary(TinyModel):
    """The same name and width, and fewer tokens."""

    @property
    def card(self) -> ModelCard:
        from dataclasses import replace

        return replace(super().card, vocabulary=100)


def test_tokens_that_the_model_does_not_have_are_named_with_the_file(tmp_path: Path) -> None:
    tree = LifetimeTree.open(tmp_path, TinyModel(), PointerEncoder())
    tree.append([120] * 64)
    tree.close()
    with pytest.raises(CtxError, match=r"written for 'tiny-7'.*its embeddings are others"):
        LifetimeTree.open(tmp_path, OtherVocabulary(), PointerEncoder())
    whole = (tmp_path / "spans.jsonl").read_text(encoding="utf-8")
    (tmp_path / "spans.jsonl").write_text(re.sub(r', "embeddings": {.*?}', "", whole), encoding="utf-8")
    (tmp_path / "spans.jsonl.sums").unlink()
    with pytest.raises(CtxError, match=r"L0.ctx holds tokens outside the vocabulary"):
        LifetimeTree.open(tmp_path, OtherVocabulary(), PointerEncoder())
    (tmp_path / "spans.jsonl").write_text(whole, encoding="utf-8")
    again = LifetimeTree.open(tmp_path, TinyModel(), PointerEncoder())
    assert again.length == 64
    again.close()


@pytest.mark.parametrize("damage", ["cut", "edited", "swapped", "empty"])
def test_a_trace_that_was_cut_or_edited_is_read_as_far_as_it_is_whole_or_named(desk: Desk, damage: str) -> None:
    desk("focus open DIR/night.txt")
    desk("focus step 4")
    desk("focus forget L1#1")
    desk("focus step 2")
    lines = (desk.folder / "x.duckdb.trace").read_bytes().splitlines(keepends=True)
    told = desk.folder / "told.trace"
    if damage == "cut":
        told.write_bytes(b"".join(lines)[:-7])
        assert not desk(f"focus trace {told}").complete
        assert desk(f"focus trace {told} --replay").steps >= 4
        return
    if damage == "edited":
        lines[-2] = lines[-2].replace(b'"kind":"forget"', b'"kind":"purge"', 1).replace(b"decode", b"decodf", 1)
    elif damage == "swapped":
        lines[3], lines[4] = lines[4], lines[3]
    told.write_bytes(b"" if damage == "empty" else b"".join(lines))
    with pytest.raises(TraceError) as named:
        desk(f"focus trace {told}")
    assert "line" in named.value.message.lower() and named.value.way_out


def test_a_damaged_journal_or_a_damaged_act_in_it_is_named_by_its_line(desk: Desk) -> None:
    desk("focus open DIR/night.txt --lifetime DIR/life")
    desk("focus forget L1#1")
    desk.session.close()
    journal = desk.folder / "life" / "spans.jsonl"
    whole = journal.read_text(encoding="utf-8")
    for old, new in (('"kind": "forget"', '"kind": "sell"'), ("[1, 1, 2]", "[0, 1, 2]"), ('"act"', '"fact"')):
        assert old in whole
        journal.write_text(whole.replace(old, new), encoding="utf-8")
        desk.session = desk.begin()
        with pytest.raises(CtxError, match=r"Line 3 of spans\.jsonl"):
            desk("focus open --lifetime DIR/life")
        desk.session.close()
