"""Pages of HTML of a memory and of a diagnosis: they stand alone, and no text of the memory is markup in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

from amgs_app.pages.html_page import ChartLine, HtmlSection, draw_bars, draw_lines, page
from amgs_app.pages.writing import palettes
from amgs_app.render.sheet import facts, sheet
from tests.tui.headless_world import Amgs

HOSTILE = '</style><script>alert(1)</script><img src="http://example.org/x.png" onerror=x> {x} "&\x1b[31m'
SECRET = "azimuth 214"
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "text", "rect", "line", "polyline"}


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


def test_hostile_text_is_text_wherever_it_stands() -> None:
    table = sheet(HOSTILE, "id:id title*", [(HOSTILE, HOSTILE)], [HOSTILE])
    tags = stands_alone(page(HOSTILE, HOSTILE, [HtmlSection(HOSTILE, table)], palettes()))
    assert tags.said.count("<script>alert(1)</script>") >= 6 and "\x1b" not in tags.said


def test_hostile_text_is_text_in_every_chart_too() -> None:
    name = f"{HOSTILE}\x00\ufffe\n"
    line = ChartLine(name, [(0.0, 0.0), (1.0, 1.0)], HOSTILE)
    ticks = [(0.0, name), (1.0, HOSTILE)]
    charts = (draw_bars(name, [(name, 1.0, name)]), draw_lines(name, [line], across=ticks, up=ticks, limit=(0.5, name)))
    tags = stands_alone(page("A", "B", [HtmlSection("C", charts=charts)], palettes()))
    assert tags.said.count("<script>alert(1)</script>") >= 10 and "\x1b" not in tags.said


def test_without_texts_only_numbers_ids_and_the_programs_own_words_stay() -> None:
    table = facts(HOSTILE, [("edges", 3), ("corpus", SECRET)], [SECRET])
    said = stands_alone(page("A", "B", [HtmlSection("C", table, own=("what",))], palettes(), redacted=True)).said
    assert "edges" in said and "3" in said and SECRET not in said and "script" not in said


def test_a_memory_and_a_diagnosis_are_written_with_and_without_their_texts(amgs: Amgs, tmp_path: Path) -> None:
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
    for name, command in (("memory", ["status", "--html"]), ("diagnosis", [*asked, "--html"])):
        whole, cut = tmp_path / f"{name}.html", tmp_path / f"{name}-cut.html"
        assert amgs(*command, str(whole)) == 0, amgs.err
        assert amgs(*command, str(cut), "--redact") == 0, amgs.err
        text = whole.read_text()
        tags = stands_alone(text)
        assert "dome" in tags.said.casefold()
        assert len(charts_in(text)) == (3 if name == "memory" else 0)
        assert ("<h1>world.duckdb</h1>" in text) == (name == "memory")
        assert whole.stat().st_size < 400_000
        said = stands_alone(cut.read_text()).said.casefold()
        for word in ("dome", "stall", "goat", "quiet", "encoder", "world", "session", str(tmp_path)):
            assert word not in said, f"{word} stands in {cut.name}"
    steps = re.findall(r"<td>[✓✗·]</td><td>([^<]+)</td>", (tmp_path / "diagnosis.html").read_text())
    said = (tmp_path / "diagnosis.html").read_text()
    assert steps and all(said.count(f">{step}<") == 1 for step in steps)
    assert amgs("status", "--html", str(tmp_path / "nowhere" / "x.html")) == 3 and "cannot be written" in amgs.err
