"""`figures`: whether what the pages of results print is found again.

Beside the figures of a page stands a comment: the line of a benchmark, with places below the folder of all data, and a
figure a line, as the page prints it and how far it may be off. A share that is printed in per cent has its sign.

    <!-- figures: locomo --data locomo
    recall10_all 84.0 ±0.3
    mrr_hybrid 30.1% ±0.2
    -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amgs.errors import InputError, UsageError

PAGES: Final = Path(__file__).parents[1] / "docs" / "results"
_COMMENT = re.compile(r"<!-- figures: (.+)\n((?:.+\n)+?)-->")
_FIGURE = re.compile(r"(\w+) (\d*\.?\d+)(%?) ±(\d*\.?\d+)")

Measure = Callable[[str], Mapping[str, float]]
"""Gives the metrics of a benchmark's line; raises InputError where it cannot be run."""


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure of a page. line: the benchmark that found it. printed: as it stands there, without its sign."""

    page: str
    line: str
    metric: str
    printed: str
    percent: bool
    tolerance: float

    def shown(self, found: float) -> str:
        """What was found, with the digits of what is printed."""
        digits = len(self.printed.partition(".")[2])
        return f"{found * (100 if self.percent else 1):.{digits}f}"

    def holds(self, found: float) -> bool:
        """Whether it is near enough; NaN is not."""
        return abs(float(self.shown(found)) - float(self.printed)) <= self.tolerance + 1e-9


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """A figure, what was found now ("" where nothing was), and what is wrong with it ("" where it reproduces)."""

    figure: PrintedFigure
    found: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class FiguresChecked:
    """Every figure that was measured again, in the order of the pages."""

    checks: tuple[FigureCheck, ...]

    @property
    def as_expected(self) -> bool:
        return not any(check.wrong for check in self.checks)


def read_figures(page: Path) -> tuple[PrintedFigure, ...]:
    """The figures of a page that can be measured again; raises InputError for one that it does not print."""
    text = page.read_text(encoding="utf-8")
    printed = set(re.findall(r"\d*\.?\d+", re.sub(r"<!--.*?-->", "", text, flags=re.S)))
    figures = []
    for line, listed in _COMMENT.findall(text):
        for told in listed.splitlines():
            match = _FIGURE.fullmatch(told)
            if match is None:
                raise InputError(f"{page.name}: {told!r} is no figure; write `metric 84.0 ±0.3`.")
            metric, value, percent, tolerance = match.groups()
            if value not in printed:
                raise InputError(f"{page.name} does not print {value}, which {metric} should be.")
            figures.append(PrintedFigure(page.stem, line, metric, value, bool(percent), float(tolerance)))
    return tuple(figures)


def choose_pages(only: str | None) -> Sequence[Path]:
    """The pages of results, or the one of that name; raises UsageError where there is none."""
    pages = sorted(PAGES.glob("*.md"))
    if only is None:
        return pages
    chosen = [page for page in pages if page.stem == only.removesuffix(".md")]
    if not chosen:
        raise UsageError(
            f"There is no page of results called {only!r}.",
            way_out="One of: " + ", ".join(page.stem for page in pages) + ".",
        )
    return chosen


def check_figures(pages: Sequence[Path], measure: Measure) -> FiguresChecked:
    """Measure the figures of these pages again, each benchmark once."""
    figures = [figure for page in pages for figure in read_figures(page)]
    found: dict[str, Mapping[str, float]] = {}
    failed: dict[str, str] = {}
    for line in dict.fromkeys(figure.line for figure in figures):
        try:
            found[line] = measure(line)
        except InputError as error:
            failed[line] = f"could not be run: {error}"
    return FiguresChecked(tuple(_check(figure, found.get(figure.line), failed) for figure in figures))


def _check(figure: PrintedFigure, metrics: Mapping[str, float] | None, failed: Mapping[str, str]) -> FigureCheck:
    if metrics is None:
        return FigureCheck(figure, "", failed[figure.line])
    value = metrics.get(figure.metric)
    if value is None:
        return FigureCheck(figure, "", "the benchmark gives no such figure")
    return FigureCheck(figure, figure.shown(value), "" if figure.holds(value) else "does not reproduce")
