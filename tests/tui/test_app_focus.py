"""The working-context pane by its keys, on the real engines with the tiny model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from amgs_app.calls.call import Call
from amgs_tui.kept_state import describe_kept_state
from amgs_tui.panes.focus import FocusPane
from tests.tui.app_drive import Drive
from tests.tui.real_world import on_store


@asynccontextmanager
async def opened(store: Path, notes: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Drive]:
    """A workstation with a frame open and two refocuses done."""
    async with on_store(store, notes, size) as driven:
        await driven.press("c")
        await driven.press("6", "o")
        await driven.type("why did the dome stall?", "enter")
        await driven.press("full_stop", "greater_than_sign")
        yield driven


def said(driven: Drive) -> str:
    assert driven.app.main.status.said is not None
    return driven.app.main.status.said.text


async def test_each_key_that_steers_says_what_came_of_it(tmp_path: Path, notes: Path) -> None:
    async with opened(tmp_path / "s.duckdb", notes) as driven:
        pane = driven.pane(FocusPane)
        assert said(driven).startswith("refocus 2:")
        assert pane.view is not None and pane.entry is not None and pane.why is not None
        best = pane.view.found[0] * pane.view.block_size
        assert pane.entry.start <= best < pane.entry.end and pane.why.entry.node == pane.entry.node
        await driven.press("a")
        assert "words of the answer" in said(driven) and pane.depends is not None
        await driven.press("w")
        assert "last refocus:" in driven.text and "unchanged for" in driven.text
        await driven.press("w", "home")
        assert pane.entry is not None
        node = str(pane.entry.node)
        await driven.press("p")
        assert said(driven).startswith(f"{node} pinned: it will not close")
        await driven.press("p")
        assert "unpinned" in said(driven)
        await driven.press("f")
        assert said(driven).startswith(f"{node} kept shut: it will not open")
        await driven.press("f")
        assert "released" in said(driven)
        await driven.press("u")
        assert "at the next refocus" in said(driven) and said(driven).startswith("Will ")
        await driven.press("m")
        assert "detail is worth" in said(driven) and "nats per token" in said(driven)
        await driven.press("full_stop", "comma")
        assert said(driven).startswith("1 token taken back: step 1 of 2 on main")
        await driven.press("S")
        await driven.type("0.3", "enter")
        assert said(driven).startswith("tau_expand is now 0.3 (was 0.2)")


async def test_keys_name_the_span_because_a_running_step_may_number_them_anew(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "s.duckdb", notes) as driven:
        pane = driven.pane(FocusPane)
        await driven.press("home", "right")
        assert pane.entry is not None
        node, ask = pane.entry.node, pane.ask
        asked: list[tuple[str, Any]] = []

        def noted(call: Call[Any], **how: Any) -> None:
            given = call.arguments
            asked.append((call.operation.name, given.get("entry", given.get("node"))))
            ask(call, **how)

        monkeypatch.setattr(pane, "ask", noted)
        await driven.press("p")
        assert ("focus steer", str(node)) in asked
        await driven.press("enter")
        assert ("focus why", str(node)) in asked
        await driven.press("escape", "m")
        assert ("focus measure", str(node)) in asked
        assert pane.why is not None and pane.why.entry.node == node


async def test_the_next_session_offers_to_go_on_and_r_does(tmp_path: Path, notes: Path) -> None:
    store = tmp_path / "s.duckdb"
    async with opened(store, notes) as driven:
        pane = driven.pane(FocusPane)
        await driven.press("home", "p", "full_stop", "B")
        await driven.type("side", "enter")
        await driven.press("full_stop", "full_stop")
        assert pane.view is not None
        left = pane.view
        kept = describe_kept_state(driven.app.lifetime, (), driven.app.state)
        assert "The working context is saved (4 tokens, 2 branches)" in kept[0]
    async with on_store(store, notes) as driven:
        await driven.press("6")
        assert "The last session left a working context" in driven.text
        assert "4 decoded tokens on 2 branches" in driven.text
        await driven.press("r")
        pane = driven.pane(FocusPane)
        assert pane.view is not None
        assert said(driven).startswith("Resumed at step 4 on side, 2 branches")
        assert pane.view.entries == left.entries and pane.view.text == left.text
        assert any(entry.pinned for entry in pane.view.entries)
        assert {one.name for one in pane.view.branches} == {"main", "side"}
        await driven.press("comma", "full_stop")
        assert pane.view.text == left.text
        assert "No working context" not in driven.text


async def test_a_key_shuts_a_block_and_the_answers_stand_side_by_side_or_side_after_side(
    tmp_path: Path, notes: Path
) -> None:
    async with opened(tmp_path / "s.duckdb", notes) as driven:
        pane = driven.pane(FocusPane)
        await driven.press("x")
        assert pane.view is not None and pane.view.branch == "branch-1"
        assert "The answer with that block shut, on branch-1" in said(driven)
        assert "the answer on branch-1" in driven.text and "on main" in driven.text
    async with opened(tmp_path / "t.duckdb", notes, (80, 24)) as driven:
        assert "what the model reads now" in driven.text and "the memory" not in driven.text
        await driven.press("tab")
        assert "the memory" in driven.text and "what the model reads now" not in driven.text
