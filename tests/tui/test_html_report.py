"""Pages of HTML of a memory and of a diagnosis: they stand alone, and no text of the memory is markup in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from amgs_app.html_page import HtmlSection, page
from amgs_app.operations.report import palettes
from amgs_app.render.sheet import facts, sheet
from tests.tui.headless_world import Amgs, make, prepare

HOSTILE = '</style><script>alert(1)</script><img src="http://example.org/x.png" onerror=x> {x} "&\x1b[31m'
SECRET = "azimuth 214"


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


def stands_alone(text: str) -> Tags:
    """The page's tags, after a look that nothing in it runs or is loaded."""
    tags = Tags(text)
    assert not {name for name, _ in tags.found} & {"script", "link", "iframe", "object", "a", "form", "base"}
    given = [(name, value or "") for _, attributes in tags.found for name, value in attributes.items()]
    assert not [name for name, _ in given if name.startswith("on")]
    assert all(
        value.startswith("data:image/svg+xml;base64,") for name, value in given if name in ("src", "srcset")
    )
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:") in given
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
        tags = stands_alone(whole.read_text())
        assert "dome" in tags.said.casefold() and sum(tag == "picture" for tag, _ in tags.found)
        assert whole.stat().st_size < 400_000
        said = stands_alone(cut.read_text()).said.casefold()
        for text in ("dome", "stall", "goat", "quiet", "encoder", str(tmp_path)):
            assert text not in said, f"{text} stands in {cut.name}"
    assert (
        amgs("report", "--out", str(tmp_path / "nowhere" / "x.html")) == 3 and "cannot be written" in amgs.err
    )
