"""The panes on the real engines with the tiny model: what an operator reads and presses, defect by defect."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from amgs_app.decay import figure as decay_picture
from amgs_app.frames import figure as frame_picture
from amgs_app.graph import figure as graph_picture
from amgs_app.render.canvas import Canvas
from amgs_app.workplace import figure as overview
from amgs_tui.dialogs.palette import matching
from amgs_tui.panes.decay import DecayPane
from tests.tui import figure_samples as samples
from tests.tui.app_drive import Drive
from tests.tui.real_world import on_store

TOPICS = ("dome", "night", "bread", "boiler", "tide", "owl")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Twelve notes of six topics, two of which link to each other."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for day, topic in enumerate(TOPICS * 2, 1):
        link = "Linked to [[dome1]]." if topic == "night" else ""
        name = f"{topic}{1 + (day > len(TOPICS))}"
        text = f"# The {topic}, part {name[-1]}\nWhat was seen of the {topic} on that day, in few words. {link}\n"
        (folder / f"{name}.md").write_text(f"---\ndate: 2026-02-{10 + day}\n---\n{text}")
    return folder


@asynccontextmanager
async def consolidated(tmp_path: Path, notes: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Drive]:
    """A workstation on the consolidated notes."""
    async with on_store(tmp_path / "s.duckdb", notes, size) as driven:
        await driven.press("c")
        yield driven


async def test_the_cursor_of_the_list_never_stands_on_another_block_than_the_curve(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("4", *["right_square_bracket"] * 5)
        pane = driven.pane(DecayPane)
        assert pane.rows > 1
        outside, inside = (row.block for row, _ in pane.items[:2])
        pane.use_sift(pane.sift.with_filter(f'"title={inside.title}"'))
        await driven.settle()
        driven.app.pick(outside.id)
        await driven.settle()
        assert pane.curve is not None and pane.curve.block.id == outside.id
        assert pane._marked is None
        await driven.press("down")
        assert pane._marked == pane.block_at_cursor() == driven.app.selected


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("quit", "quit"),
        ("help", "help"),
        ("copy", "copy"),
        ("maximise", "maximise"),
        ("maximize", "maximise"),
        ("pane", "pane"),
        ("dark", "theme"),
        ("low-confidence", "prune"),
        ("measure", "measure"),
        ("U", "undo"),
        ("forget", "prune"),
        ("recall", "search"),
        ("remember", "ingest"),
    ],
)
async def test_the_palette_finds_every_action_by_name_key_and_description(
    tmp_path: Path, notes: Path, typed: str, action: str
) -> None:
    async with consolidated(tmp_path, notes) as driven:
        found = matching(driven.app.actions(), typed)
        meant = {each.name for each in found if typed in each.synonyms}
        first = found[: max(1, len(meant))]
        assert any(each.name.startswith(action) for each in first), [each.name for each in found[:5]]


def test_words_are_never_drawn_in_the_faint_colour() -> None:
    canvas = Canvas(120, 40)
    pictures = (
        overview.overview(samples.status(), canvas, journal=samples.journal(), health=samples.health()).render(),
        decay_picture.decay(canvas, now=samples.NOW, curve=samples.curve(), forecast=samples.forecast()).render(),
        graph_picture.neighbourhood(samples.neighbourhood(), canvas),
        frame_picture.frame(samples.frame(), canvas).render(),
    )
    for drawn in pictures:
        for span in drawn.spans:
            style = span.style
            if isinstance(style, str) or style.color is None or style.color.name != canvas.palette.faint:
                continue
            words = drawn.plain[span.start : span.end]
            assert not any(sign.isalpha() for sign in words), words
