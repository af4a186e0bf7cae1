"""Pages of HTML of a memory and of a diagnosis: they stand alone, and no text of the memory is markup in them."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from amgs.clock import FixedClock, parse_instant
from amgs.memory import Memory
from amgs.types import Reliability
from amgs.types.calibration import CoursePoint
from amgs_app.operations.report import palettes
from amgs_app.pages import memory_charts, svg_charts
from amgs_app.pages.html_page import HtmlSection, page
from amgs_app.pages.svg_charts import ChartSeries, ReliabilityPoint
from amgs_app.render.sheet import facts, sheet, to_cells
from tests.tui.headless_world import NOW, Amgs, make, prepare

HOSTILE = '</style><script>alert(1)</script><img src="http://example.org/x.png" onerror=x> {x} "&\x1b[31m'
SECRET = "azimuth 214"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "text", "rect", "line", "polyline", "circle"}


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said += data


def charts_in(text: str) -> list[Element]:
    """The charts of a page, each parsed as XML."""
    return [fromstring(found) for found in re.findall(r"<svg .*?</svg>", text, re.DOTALL)]


def written(chart: Element) -> list[str]:
    """What is written in a chart."""
    return [one.text or "" for one in chart.iter(f"{SVG}text")]


def part(section: HtmlSection | None) -> tuple[list[Element], list[list[str]]]:
    """The charts of a section, and its table's cells."""
    assert section is not None and section.table is not None
    return [fromstring(one) for one in section.charts], to_cells(section.table)[1]


def stands_alone(text: str) -> Tags:
    """The page's tags, after a look that nothing in it runs or is loaded."""
    tags = Tags(text)
    assert not {name for name, _ in tags.found} & {"script", "link", "iframe", "object", "a", "form", "base"}
    given = [(name, value or "") for _, attributes in tags.found for name, value in attributes.items()]
    assert not [name for name, _ in given if name.startswith("on")]
    assert not [name for name, _ in given if name in ("src", "srcset", "href", "xlink:href", "style")]
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in given
    for chart in charts_in(text):
        assert {one.tag.removeprefix(SVG) for one in chart.iter()} <= ELEMENTS
        assert chart.findtext(f"{SVG}title") and chart.findtext(f"{SVG}desc")
    assert not re.search(r"@import|url\(", text)
    return tags


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    return make(tmp_path, capsys, prepared)


def test_hostile_text_is_text_wherever_it_stands() -> None:
    table = sheet(HOSTILE, "id:id title*", [(HOSTILE, HOSTILE)], [HOSTILE])
    tags = stands_alone(page(HOSTILE, HOSTILE, [HtmlSection(HOSTILE, table)], palettes()))
    assert tags.said.count("<script>alert(1)</script>") >= 6 and "\x1b" not in tags.said


def test_hostile_text_is_text_in_every_chart_too() -> None:
    name = f"{HOSTILE}\x00\ufffe\n"
    line = ChartSeries(name, [(0.0, 0.0), (1.0, 1.0)], HOSTILE)
    ticks = [(0.0, name), (1.0, HOSTILE)]
    point = ReliabilityPoint(0.5, 0.4, 0.2, 0.6, 3)
    made = (
        svg_charts.bars(name, name, [(name, 1.0, name)]),
        svg_charts.columns(name, name, [(name, 1.0, name)]),
        svg_charts.lines(name, name, [line], across=ticks, up=ticks, limit=(0.5, name)),
        svg_charts.reliability(name, name, [point], (0.4, name)),
        svg_charts.filled(name, name, [(name, 1.0, name)], 2.0, name),
    )
    tags = stands_alone(page("A", "B", [HtmlSection("C", charts=made)], palettes()))
    assert tags.said.count("<script>alert(1)</script>") >= 20 and "\x1b" not in tags.said


def test_a_chart_without_data_is_drawn_empty() -> None:
    for made in (svg_charts.bars("A", "b", []), svg_charts.columns("A", "b", [])):
        assert fromstring(made).findtext(f"{SVG}title") == "A"


def test_the_charts_write_and_draw_the_figures_of_their_tables(amgs: Amgs) -> None:
    amgs("frame", "assemble", "SESSION", "--query", "Why did the dome stall?")
    for block, verdict in (("stall.md", "useful"), ("goat.md", "useless"), ("motor.md", "useful")):
        assert amgs("feedback", verdict, block) == 0, amgs.err
    with Memory.open(amgs.store, clock=FixedClock(parse_instant(NOW))) as memory:
        status, frame, table = memory.status(), memory.frames.last(), memory.reliability()
        assert frame is not None
        (bars,), rows = part(memory_charts.kinds(status, redacted=False))
        assert [*zip(written(bars)[::2], written(bars)[1::2], strict=True)] == [
            (row[0], row[1]) for row in rows
        ]
        widths = [float(one.get("width", "")) for one in bars.iter(f"{SVG}rect")]
        assert widths == pytest.approx([widths[0] * int(row[1]) / int(rows[0][1]) for row in rows], abs=0.1)

        (columns, grown), rows = part(memory_charts.ages(memory, memory.clock.now()))
        assert [one for one in written(columns) if "-" not in one] == [row[1] for row in rows]
        assert sum(int(row[1]) for row in rows) == 4 == int(rows[-1][2]) and "in all 4" in written(grown)

        (diagram,), rows = part(memory_charts.calibration(table))
        judged = [one for one in table.bins if one.count]
        middles = [
            (float(one.get("cx", "")), float(one.get("cy", ""))) for one in diagram.iter(f"{SVG}circle")
        ]
        for (x, y), row, one in zip(middles, rows, judged, strict=True):
            assert (x, y) == pytest.approx((60 + 320 * one.mean_predicted, 330 - 320 * one.rate), abs=0.1)
            assert f"forecast at {row[2]}, {row[3]} came true" in (diagram.findtext(f"{SVG}desc") or "")
        assert "base rate 0.667" in written(diagram)

        curves = memory.lifecycle.category_curves(days=30)
        (decay,), rows = part(memory_charts.decay(curves, redacted=False))
        assert {f"{row[0]} {row[4]}" for row in rows} <= set(written(decay))
        assert f"threshold {curves.threshold:g}" in written(decay)

        (fill,), rows = part(memory_charts.fill(frame, redacted=False))
        assert written(fill) == [f"{row[0]}: {row[1]} tokens, {row[2]}" for row in rows]
        assert sum(int(row[1].replace(",", "")) for row in rows) == frame.budget
        for section in (
            memory_charts.kinds(status, redacted=True),
            memory_charts.decay(curves, redacted=True),
            memory_charts.fill(frame, redacted=True),
        ):
            assert section.charts == ()


def test_the_course_of_the_brier_score_is_a_line_through_its_verdicts() -> None:
    now = parse_instant(NOW)
    course = tuple(CoursePoint(now + timedelta(days=n), n, 0.3 / n, 0, 0, 0, 0) for n in (1, 2, 3))
    (chart,), rows = part(memory_charts.brier(Reliability((), 3, 3, 0.1, 0, 0, 0, 0, course=course)))
    assert [row[2] for row in rows] == ["0.300", "0.150", "0.100"] and "Brier 0.100" in written(chart)
    (way,) = chart.iter(f"{SVG}polyline")
    heights = [float(point.split(",")[1]) for point in way.get("points", "").split()]
    assert heights == sorted(heights) and len(heights) == 3
    assert memory_charts.brier(Reliability((), 1, 1, 0.1, 0, 0, 0, 0, course=course[:1])) is None


def test_without_texts_only_numbers_ids_and_the_programs_own_words_stay() -> None:
    table = facts(HOSTILE, [("edges", 3), ("corpus", SECRET)], [SECRET])
    said = stands_alone(
        page("A", "B", [HtmlSection("C", table, own=("what",))], palettes(), redacted=True)
    ).said
    assert "edges" in said and "3" in said and SECRET not in said and "script" not in said


def test_a_memory_and_a_diagnosis_are_written_with_and_without_their_texts(
    amgs: Amgs, tmp_path: Path
) -> None:
    amgs("frame", "assemble", "ATTENTION", "--query", "Why did the dome stall?")
    asked = [
        "diagnose",
        "",
        "--missed",
        f"It stalled at {SECRET}",
        "--question",
        "Why did it stall?",
        "--questions",
        "0",
    ]
    for name, command in (("memory", ["report", "--out"]), ("diagnosis", [*asked, "--html"])):
        whole, cut = tmp_path / f"{name}.html", tmp_path / f"{name}-cut.html"
        assert amgs(*command, str(whole)) == 0, amgs.err
        assert amgs(*command, str(cut), "--redact") == 0, amgs.err
        text = whole.read_text()
        tags = stands_alone(text)
        assert "dome" in tags.said.casefold()
        assert len(charts_in(text)) == (5 if name == "memory" else 0)
        assert ("<h1>world.duckdb</h1>" in text) == (name == "memory")
        assert whole.stat().st_size < 400_000
        said = stands_alone(cut.read_text()).said.casefold()
        for word in ("dome", "stall", "goat", "quiet", "encoder", "world", "session", str(tmp_path)):
            assert word not in said, f"{word} stands in {cut.name}"
    steps = re.findall(r"<td>[✓✗·]</td><td>([^<]+)</td>", (tmp_path / "diagnosis.html").read_text())
    said = (tmp_path / "diagnosis.html").read_text()
    assert steps and all(said.count(f">{step}<") == 1 for step in steps)
    assert (
        amgs("report", "--out", str(tmp_path / "nowhere" / "x.html")) == 3 and "cannot be written" in amgs.err
    )
