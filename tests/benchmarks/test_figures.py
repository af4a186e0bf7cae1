"""`figures`: what the pages of results print is measured again, and what is not found again is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amgs.errors import InputError, UsageError
from benchmarks import figures
from benchmarks.__main__ import run as run_benchmark
from benchmarks.commands import registry
from benchmarks.figures import PAGES, check_figures, choose_pages, read_figures

PAGE = """# Search
| | amgs |
| --- | ---: |
| HotpotQA | **{0}** |

<!-- figures: multihop --data hops
recall10_hotpotqa {0} ±0.3
-->
"""
HOPS = [
    {
        "question": "Where was the builder of the Lime Kiln born?",
        "supporting_facts": [["Lime Kiln", 0], ["Osk Brandt", 1]],
        "context": [
            ["Lime Kiln", ["The Lime Kiln was built by Osk Brandt."]],
            ["Osk Brandt", ["Osk Brandt built a kiln.", " He was born in Vell."]],
        ],
    }
]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data" / "hops").mkdir(parents=True)
    (tmp_path / "data" / "hops" / "hotpotqa.json").write_text(json.dumps(HOPS), encoding="utf-8")
    (tmp_path / "pages").mkdir()
    monkeypatch.setattr(figures, "PAGES", tmp_path / "pages")
    return tmp_path / "pages" / "search.md"


@pytest.mark.parametrize(
    ("printed", "data", "code", "told"),
    [
        ("100.0", "data", 0, "holds"),
        ("99.7", "data", 0, "holds"),
        ("99.6", "data", 1, "does not reproduce"),
        ("100.0", "elsewhere", 1, "could not be run"),
    ],
)
def test_a_figure_that_is_not_found_again_fails_and_is_named(
    page: Path, printed: str, data: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page.write_text(PAGE.format(printed), encoding="utf-8")
    folder = str(page.parents[1] / data)
    assert run_benchmark(["--model", "tiny", "figures", "--data", folder, "--only", "search"]) == code
    shown = " ".join(capsys.readouterr().out.split())
    assert "recall10_hotpotqa" in shown and told in shown


def test_a_share_is_held_in_per_cent_and_with_the_digits_of_the_page(page: Path) -> None:
    page.write_text(
        "MRR 30.1 % of 12\n<!-- figures: documents --data d\nmrr 30.1% ±0\nhit1 12 ±0\nnothing 12 ±1\n-->\n",
        encoding="utf-8",
    )
    lines: list[str] = []

    def measure(line: str) -> dict[str, float]:
        lines.append(line)
        return {"mrr": 0.30149, "hit1": float("nan")}

    found = check_figures([page], measure)
    assert [(check.found, check.wrong) for check in found.checks] == [
        ("30.1", ""),
        ("nan", "does not reproduce"),
        ("", "the benchmark gives no such figure"),
    ]
    assert lines == ["documents --data d"], "each benchmark runs once"


@pytest.mark.parametrize("told", ["recall10 84.0 ±0.3", "recall10 about 12"])
def test_a_comment_that_the_page_does_not_print_is_refused(page: Path, told: str) -> None:
    page.write_text(f"12 of 30\n<!-- figures: documents --data d\n{told}\n-->\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"search\.md"):
        read_figures(page)


def test_every_comment_of_the_pages_names_a_benchmark_and_what_the_page_prints() -> None:
    pages = choose_pages(None)
    lines = {figure.line for page in pages for figure in read_figures(page)}
    comments = sum(page.read_text(encoding="utf-8").count("<!-- figures") for page in pages)
    assert comments == len(lines) >= 7, "a comment that cannot be read is none"
    assert all(registry().parse(line) is not None for line in lines)
    assert choose_pages("search.md") == [PAGES / "search.md"]
    with pytest.raises(UsageError, match="called 'sourch'"):
        choose_pages("sourch")
