"""`documents`: sections of documents found by their headings, protocol documents-H.

One store a project; every heading of level 2–3 over at least 40 words is asked as "HEADING in PROJECT", with its line
taken out of what is stored. Right are the blocks of the section.

Reading folders of Markdown as protocol documents-H wants them: a heading is the question, its section the answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.errors import InputError
from amgs.ingest.document import cut_document
from amgs.ingest.raw_blocks import RawBlock
from amgs.ingest.readers import line_ranges, notes
from amgs.text.markdown import clean_heading, remove_plumbing, split_fences
from benchmarks import measures
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.references import BM25, DEPTH, FUSED, HYBRID, KEYWORD, METHODS, VECTOR, RankedQuestion, SearchControls
from benchmarks.stores import STILL, block_ids, drafts_store

FEWEST_WORDS = 40
"""A section with fewer words is no answer."""

LIMIT = 1600
"""Characters of a block, as the settings have them."""

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_TITLE, _DEEPEST = 1, 3


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A heading as a question, with the sources of the sections that stand under it."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """One folder of documents: its blocks in order, and its headings as questions."""

    name: str
    drafts: tuple[RawBlock, ...]
    questions: tuple[DocumentQuestion, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading of level 1–3 (level 0: what stands before the first), and the text below it."""

    level: int
    title: str
    body: str

    @property
    def asked(self) -> bool:
        return self.level > _TITLE and len(self.body.split()) >= FEWEST_WORDS


def read_projects(folder: Path) -> tuple[Project, ...]:
    """A project for each folder below this one, by name; raises InputError when no heading of any can be asked."""
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not a folder.", way_out="Give --data a folder that holds one folder of Markdown per project."
        )
    found = [project(below.name, _texts(below)) for below in sorted(folder.iterdir()) if below.is_dir()]
    kept = tuple(each for each in found if each.questions)
    if not kept:
        raise InputError(
            f"{folder} holds no project with headings to ask for.",
            way_out="Each folder in it is a project of .md files with headings of level 2 or 3 over at least "
            f"{FEWEST_WORDS} words.",
        )
    return kept


def project(name: str, texts: Iterable[tuple[str, str]], names: Mapping[str, str] | None = None) -> Project:
    """A project of Markdown texts by source.

    The line of a heading that is asked for is in no block and no title. Equal questions are one, which any of the
    sections answers. names: what a question calls the project, for a source that has a name of its own.
    """
    drafts: list[RawBlock] = []
    asked: dict[str, list[str]] = defaultdict(list)
    for source, text in texts:
        called = (names or {}).get(source, name)
        drafts += _drafts(source, called, text, asked)
    questions = tuple(DocumentQuestion(text, tuple(sources)) for text, sources in asked.items())
    return Project(name, tuple(drafts), questions)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.md")):
        try:
            yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}.") from error


def _drafts(source: str, called: str, text: str, asked: dict[str, list[str]]) -> Iterator[RawBlock]:
    """The blocks of one document; the questions that its sections answer are added to `asked`."""
    _, body = line_ranges.read_front_matter(text.replace("\r\n", "\n"))
    sections = _sections(remove_plumbing(body))
    document = next((s.title for s in sections if s.level == _TITLE), "")
    parts = [
        (section, piece.text) for section in sections for piece in cut_document(notes.document(_held(section)), LIMIT)
    ]
    for n, (section, piece) in enumerate(parts, 1):
        here = f"{source}#{n}"
        meta: dict[str, object] = {"source": here, "part": n, "parts": len(parts)}
        if document:
            meta["title"] = document
        if n > 1:
            meta["follows"] = f"{source}#{n - 1}"
        if section.asked:
            asked[f"{section.title} in {called}"].append(here)
        yield RawBlock(piece, meta=meta)


def _held(section: _Section) -> str:
    """What of a section is in the store: a heading that is asked for is not."""
    if section.asked or not section.level:
        return section.body.strip()
    return f"{'#' * section.level} {section.title}\n\n{section.body}".strip()


def _sections(body: str) -> Sequence[_Section]:
    """The text cut before each heading of level 1–3; what stands in a code fence is none."""
    found: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for part, code in split_fences(body):
        for line in part.split("\n"):
            match = None if code else _HEADING.match(line)
            if match and len(match[1]) <= _DEEPEST and clean_heading(match[2]):
                found.append((len(match[1]), clean_heading(match[2]), []))
            else:
                found[-1][2].append(line)
    return [_Section(level, title, "\n".join(lines)) for level, title, lines in found]


BENCH = Bench(
    "documents",
    {
        "hybrid_over_bm25": (">=", 1.08),
        "least_over_bm25": (">=", 1.0),
        "keyword_over_bm25": (">=", 1.0),
        "hybrid_over_best": (">=", 1.03),
    },
)


def run(rig: MemoryRig, data: Path) -> BenchResult:
    """Measure a folder of projects; raises InputError when it holds none."""
    projects = read_projects(data)
    asked: list[RankedQuestion] = []
    for place, project in enumerate(projects):
        rig.progress(place, len(projects), f"project {project.name}")
        with drafts_store(project.drafts, STILL, rig.embedder) as memory:
            controls = SearchControls(memory, rig.seed)
            asked += [
                controls.ask(q.text, project.name, [frozenset().union(*block_ids(memory, q.sources))])
                for q in project.questions
            ]
    by_project = [[q for q in asked if q.group == p.name] for p in projects]
    metrics = {
        "mrr_hybrid": _mrr(asked, HYBRID),
        "mrr_keyword": _mrr(asked, KEYWORD),
        "mrr_vector": _mrr(asked, VECTOR),
        "mrr_fusion": _mrr(asked, FUSED),
        "hit1": _hit1(asked, HYBRID),
        "recall10": _recall(asked, HYBRID),
        "hybrid_over_bm25": _ratio(asked, HYBRID, BM25),
        "least_over_bm25": min(_ratio(own, HYBRID, BM25) for own in by_project),
        "keyword_over_bm25": min(_ratio(own, KEYWORD, BM25) for own in by_project),
        "hybrid_over_best": min(_over_best(own) for own in by_project),
    }
    settings = {
        "projects": [project.name for project in projects],
        "blocks": sum(len(project.drafts) for project in projects),
        "questions": len(asked),
        "embedder": rig.embedder.name,
    }
    return BENCH.result(settings, metrics, (_by_project(projects, asked), _by_method(asked)))


def _by_project(projects: Sequence[Project], asked: Sequence[RankedQuestion]) -> BenchTable:
    columns = ("MRR@10", "blocks", "questions", *METHODS, "hybrid / better layer")
    rows: list[tuple[str | float, ...]] = []
    for project in projects:
        own = [q for q in asked if q.group == project.name]
        figures = (100 * _mrr(own, method) for method in METHODS)
        rows.append((project.name, str(len(project.drafts)), str(len(own)), *figures, _over_best(own)))
    return BenchTable("By project", columns, tuple(rows))


def _by_method(asked: Sequence[RankedQuestion]) -> BenchTable:
    low_high = {method: _interval(asked, method) for method in METHODS}
    rows = tuple(
        (m, 100 * _mrr(asked, m), low_high[m], 100 * _hit1(asked, m), 100 * _recall(asked, m)) for m in METHODS
    )
    return BenchTable("By method", ("method", "MRR@10", "hybrid − it, 95 %", "hit@1", "recall@10"), rows)


def _interval(asked: Sequence[RankedQuestion], method: str) -> str:
    """The interval of what hybrid gains over a method in MRR, in points, by drawing questions."""
    if method == HYBRID:
        return "–"
    ours = [measures.reciprocal_rank(q.ranked[HYBRID], q.relevant) for q in asked]
    theirs = [measures.reciprocal_rank(q.ranked[method], q.relevant) for q in asked]
    low, high = measures.interval({str(i): [a - b] for i, (a, b) in enumerate(zip(ours, theirs, strict=True))})
    return f"{100 * low:+.1f} to {100 * high:+.1f}"


def _over_best(asked: Sequence[RankedQuestion]) -> float:
    """MRR of hybrid by that of the better of its two layers."""
    best = max(_mrr(asked, KEYWORD), _mrr(asked, VECTOR))
    return _mrr(asked, HYBRID) / best if best else float("nan")


def _ratio(asked: Sequence[RankedQuestion], method: str, other: str) -> float:
    """MRR of a method by that of another."""
    theirs = _mrr(asked, other)
    return _mrr(asked, method) / theirs if theirs else float("nan")


def _mrr(asked: Sequence[RankedQuestion], method: str) -> float:
    return float(np.mean([measures.reciprocal_rank(q.ranked[method], q.relevant) for q in asked]))


def _hit1(asked: Sequence[RankedQuestion], method: str) -> float:
    return float(np.mean([measures.hit(q.ranked[method], q.relevant, 1) for q in asked]))


def _recall(asked: Sequence[RankedQuestion], method: str) -> float:
    """Share of the blocks of a section that are among the first ten."""
    each = [
        measures.recall(q.ranked[method], [frozenset({i}) for item in q.relevant for i in item], DEPTH) for q in asked
    ]
    return float(np.mean(each))
