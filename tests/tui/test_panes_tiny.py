"""The panes on the real engines with the tiny model: what an operator reads and presses, defect by defect."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from amgs_app.engine import Engine
from amgs_app.reference.glossary import SCREEN
from amgs_app.render.figures import decay as decay_picture
from amgs_app.render.figures import frame as frame_picture
from amgs_app.render.figures import graph as graph_picture
from amgs_app.render.figures import header, overview
from amgs_app.render.figures import inbox as inbox_picture
from amgs_app.render.figures.canvas import Canvas
from amgs_app.session.operator import Operator
from amgs_tui.appearance import symbols_of_terminal
from amgs_tui.dialogs.finder import Finder
from amgs_tui.dialogs.palette import Action, ActionPalette, matching
from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.graph import GraphPane
from tests.tui import figure_samples as samples
from tests.tui.app_drive import Drive
from tests.tui.test_app_tiny import on_session, options

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
async def consolidated(
    tmp_path: Path, notes: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Drive]:
    """A workstation on the consolidated notes."""
    given = options(tmp_path / "s.duckdb", notes)
    async with on_session(lambda: Operator(Engine(given)), size) as driven:
        await driven.press("c")
        yield driven


async def test_dropping_below_the_threshold_is_told_without_alarm(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("4", "right_square_bracket", "right_square_bracket")
        assert "below 0.05" in driven.text and "nothing is removed before prune" in driven.text
        assert "will fall" not in driven.text
        await driven.press("7")
        assert "below 0.05" in driven.text and "alive" not in driven.text


async def test_what_was_used_stands_first_in_the_list_of_what_drops(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("2", "e")
        await driven.type("the tide", "enter")
        await driven.press("u", "4", *["right_square_bracket"] * 5)
        pane = driven.app.main.pane("decay")
        assert isinstance(pane, DecayPane) and pane.forecast is not None
        uses = [row.uses for row in pane.forecast.rows]
        assert any(uses) and not all(uses)
        assert [bool(times) for times in uses] == sorted((bool(times) for times in uses), reverse=True)


async def test_the_cursor_of_the_list_never_stands_on_another_block_than_the_curve(
    tmp_path: Path, notes: Path
) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("4", *["right_square_bracket"] * 5)
        pane = driven.app.main.pane("decay")
        assert isinstance(pane, DecayPane) and pane.rows > 1
        outside, inside = (row.block for row in pane.listed[:2])
        pane.use_sift(pane.sift.filtered(f'"title={inside.title}"'))
        await driven.settle()
        driven.app.pick(outside.id)
        await driven.settle()
        assert pane.curve is not None and pane.curve.block.id == outside.id
        assert pane._marked is None
        await driven.press("down")
        assert pane._marked == pane.listed[0].block.id == driven.app.selected


async def test_a_path_is_asked_for_by_words_and_no_id_is_typed(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("slash")
        await driven.type("night, part 1", "enter")
        await driven.press("3", "w")
        finder = driven.app.screen
        assert isinstance(finder, Finder) and "Path from “The night, part 1” to" in driven.text
        assert "neighbour" in driven.text
        await driven.type("dome, part 1", "enter")
        assert "Graph path" in driven.text and "links_to" in driven.text
        assert driven.app.selected is not None and isinstance(driven.app.main.pane("graph"), GraphPane)


async def test_the_table_of_edges_has_heads_in_every_size(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes, (80, 24)) as driven:
        await driven.press("slash")
        await driven.type("night, part 1", "enter")
        await driven.press("3", "h", "h")
        head = next(line for line in driven.lines if "edges" in line and "─" in line)
        assert all(name in head for name in ("wgt", "cnf", "strength"))


async def test_help_has_the_keys_in_order_without_ids_and_explains_the_words(
    tmp_path: Path, notes: Path
) -> None:
    async with consolidated(tmp_path, notes, (200, 60)) as driven:
        await driven.press("6", "question_mark")
        page = driven.app.screen.query_one("#reader-page")
        text = driven.text
        assert "focus.step" not in text and "app.find" not in text
        lines = [line.strip(" │┃") for line in driven.lines]
        left, right = (
            next(n for n, line in enumerate(lines) if f"  {key}  " in f"  {line}  ") for key in "←→"
        )
        assert right == left + 1
        for word in ("W", "dirty", "swap", "residency", "cadence", "τ", "heat", "ΔNLL", "past"):
            assert word in dict(SCREEN["focus"])
        await driven.press("pagedown", "pagedown", "pagedown")
        assert "residency" in driven.text and "cadence" in driven.text
        assert page.size.width > 120


async def test_question_mark_twice_opens_the_glossary(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("question_mark", "question_mark")
        assert "Glossary" in driven.text and "The unit that is stored" in driven.text
        await driven.press("question_mark")
        assert "Glossary" not in driven.text


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("quit", "quit"),
        ("help", "help"),
        ("copy", "copy"),
        ("maximise", "maximise"),
        ("maximize", "maximise"),
        ("bookmark", "bookmark"),
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


def test_actions_are_found_by_words_by_letters_and_in_spite_of_typos() -> None:
    names = ("frame assemble", "search", "consolidate", "feedback")
    actions = [Action(name, f"What {name.split()[-1]} does with questions", str) for name in names]

    def found(typed: str) -> list[str]:
        return [action.name for action in matching(actions, typed)]

    assert found("questions") == list(names)
    assert found("search") == found("serach") == ["search"]
    assert found("frass") == ["frame assemble"]
    assert found("fedback") == ["feedback"] and found("xyzzy") == []


def test_the_palette_puts_what_a_word_means_before_names_that_hold_it_and_behind_the_name_itself() -> None:
    forgetful = [
        Action("pack forget", "Retire packs", str),
        Action("block delete …", "Delete blocks", str, synonyms=("erase", "forget")),
        Action("prune", "Archive blocks", str, synonyms=("forget", "clean up")),
    ]
    assert [one.name for one in matching(forgetful, "forget")] == ["block delete …", "prune", "pack forget"]
    assert [one.name for one in matching(forgetful, "clean up")] == ["prune"]
    named = Action("forget", "Forget", str)
    assert matching([*forgetful, named], "forget")[0] is named


def test_of_equal_actions_the_palette_prefers_the_one_that_can_be_done_now() -> None:
    idle = Action("undo", "Undo the recalibration just applied", str, "U", "Calibration", ready=False)
    command = Action("undo", "Undo a change in the journal.", str)
    assert matching([idle, command], "undo") == [command, idle]


async def test_the_palette_begins_with_what_was_used_last(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("ctrl+p")
        palette = driven.app.screen
        assert isinstance(palette, ActionPalette)
        assert "consolidate" in driven.text
        await driven.type("graph stats", "enter")
        assert driven.app.main.focused_pane is driven.app.main.pane("graph")
        await driven.press("ctrl+p")
        palette = driven.app.screen
        assert isinstance(palette, ActionPalette) and palette._listed[0].name == "graph stats"


async def test_an_action_of_another_pane_brings_it_to_the_front_or_says_why_not(
    tmp_path: Path, notes: Path
) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("ctrl+p")
        await driven.type("decode one token", "enter")
        assert (
            driven.app.main.focused_pane is driven.app.main.pane("focus")
            and "Not available now" in driven.text
        )


async def test_the_key_bar_shows_more_keys_where_there_is_room(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes, (200, 60)) as driven:
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        await driven.press("o")
        bar = driven.lines[-1]
        for label in ("m measure", "p pin", "x forbid", "u force", "S set", "d diff"):
            assert label in bar
        await driven.press("1")
        assert "z maximise" in driven.lines[-1] and "^p palette" in driven.lines[-1]


async def test_enter_is_a_word_where_only_ascii_can_be_shown(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        driven.app.appearance.use_symbols("ascii")
        await driven.press("4")
        assert "enter read" in driven.lines[-1] and "| read" not in driven.lines[-1]
        await driven.press("question_mark")
        assert any("enter" in line and "Read the selected block" in line for line in driven.lines)


async def test_no_label_of_the_loop_is_cut_and_what_waits_is_counted_once(
    tmp_path: Path, notes: Path
) -> None:
    for size in ((120, 40), (200, 60)):
        given = options(tmp_path / f"{size[0]}.duckdb", notes)
        async with on_session(lambda given=given: Operator(Engine(given)), size) as driven:  # type: ignore[misc]
            pane = driven.app.main.pane("overview")
            drawn = pane.draw(pane.canvas()).plain
            for name in (
                "inbox",
                "consolidate",
                "memory",
                "frame",
                "lifetime",
                "window",
                "decode",
                "feedback",
            ):
                assert name in drawn, (size, name)
            assert drawn.count("12 raw") == 1 and drawn.count("12 blocks") <= 1
            await driven.press("7")
            large = pane.draw(pane.canvas()).plain
            assert "…" not in "".join(large.splitlines()[: 11 if pane.size.height > 21 else 9])


@pytest.mark.parametrize("width", [54, 58, 78, 118, 198])
def test_the_stations_fit_their_words_at_every_width(width: int) -> None:
    plain = overview.overview(samples.status(), Canvas(width, 24), frame=samples.frame()).plain
    assert "…" not in "".join(plain.splitlines()[:11])


async def test_a_click_on_a_station_opens_its_pane(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        for word, name in (("memory", "graph"), ("feedback", "calibration"), ("window", "focus")):
            await driven.press("7")
            lines = driven.lines
            y = next(at for at, line in enumerate(lines) if f" {word} " in line and "─" in line)
            await driven.pilot.click(offset=(lines[y].index(word), y + 1))
            await driven.settle()
            assert driven.app.main.focused_pane is driven.app.main.pane(name), word


async def test_an_empty_inbox_gives_its_place_to_another_pane(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("7")
        assert "inbox" not in driven.app.main.body.shown and len(driven.app.main.body.shown) == 3
        await driven.press("1")
        assert "The inbox is empty" in driven.text
    async with consolidated(tmp_path, notes, (200, 60)) as driven:
        await driven.press("2")
        assert "inbox" not in driven.app.main.body.shown and "frame" in driven.app.main.body.shown


async def test_the_theme_is_remembered_with_the_layout(tmp_path: Path, notes: Path) -> None:
    given = options(tmp_path / "s.duckdb", notes)
    async with on_session(lambda: Operator(Engine(given)), (120, 40)) as driven:
        await driven.press("t", "t")
        chosen = driven.app.theme
        assert chosen != next(iter(driven.app.appearance.palettes))
    async with on_session(lambda: Operator(Engine(given)), (120, 40)) as driven:
        assert driven.app.theme == chosen
    wanted = replace(given, theme="paper")
    async with on_session(lambda: Operator(Engine(wanted)), (120, 40), theme="paper") as driven:
        assert driven.app.theme == "paper"


@pytest.mark.parametrize(
    ("environ", "symbols"),
    [
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "ascii"),
        ({"LC_ALL": "C", "LC_CTYPE": "C.UTF-8"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "ascii"),
        ({"LANG": "de_DE.ISO-8859-1"}, "ascii"),
        ({"TERM": "linux", "LANG": "en_US.UTF-8"}, "ascii"),
        ({"TERM": "dumb", "LANG": "en_US.UTF-8"}, "ascii"),
        ({"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, "braille"),
        ({"TERM": "xterm", "LC_ALL": "de_DE.utf8"}, "braille"),
        ({"LC_CTYPE": "UTF-8"}, "braille"),
    ],
)
def test_a_terminal_without_the_signs_gets_ascii(environ: dict[str, str], symbols: str) -> None:
    assert symbols_of_terminal(environ) == symbols


def test_the_header_keeps_the_brier_score_beside_a_long_model_name() -> None:
    status = replace(samples.status(), brier=0.254)
    given = {"status": status, "model": "SmolLM2-135M int8", "threshold": 0.05}
    assert "Brier .25" in header.header(Canvas(120, 1), **given).plain  # type: ignore[arg-type]
    assert "Brier" not in header.header(Canvas(120, 1), status=replace(status, brier=None)).plain


def test_words_are_never_drawn_in_the_faint_colour() -> None:
    canvas = Canvas(120, 40)
    pictures = (
        overview.overview(samples.status(), canvas, operations=samples.operations(), health=samples.health()),
        decay_picture.decay(canvas, now=samples.NOW, curve=samples.curve(), forecast=samples.forecast()),
        graph_picture.neighbourhood(samples.neighbourhood(), canvas),
        inbox_picture.inbox(samples.raw_blocks(12), canvas, now=samples.NOW),
        frame_picture.frame(samples.frame(), canvas),
    )
    for drawn in pictures:
        for span in drawn.spans:
            style = span.style
            if isinstance(style, str) or style.color is None or style.color.name != canvas.palette.faint:
                continue
            words = drawn.plain[span.start : span.end]
            assert not any(sign.isalpha() for sign in words), words
