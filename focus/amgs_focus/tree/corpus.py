"""Plan how to read a folder of documents into a lifetime: order, sections, duplicates to leave out, and links between
related sections of different documents.

MegaContext, "Curating the core knowledge corpus". Documents of a domain stay together, in the order README → design
notes → other prose → source → tests, so that a coarse gist covers one theme. A bridge links a section that defines a
name with sections of other documents that mention it. Entries of the window tile the lifetime, so a bridge is a link
between spans, not a gist. Nothing is read or written here.
"""

from __future__ import annotations

import ast
import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from amgs_focus.records import Segment

LANGUAGES: Mapping[str, str] = {
    ".md": "markdown",
    ".rst": "restructuredtext",
    ".txt": "text",
    ".py": "python",
    ".js": "javascript",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cpp": "c++",
    ".rb": "ruby",
    ".sh": "shell",
    ".sql": "sql",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
"""Languages of the files that are read, by suffix."""
PROSE = frozenset({"markdown", "restructuredtext", "text"})

LONGEST = 4000  # characters of a section without a heading of its own
SHINGLE = 4  # words
LEAST_WORDS = 12  # of a section that is compared with others
ALIKE = 0.9  # share of a section's shingles in another
SHORTEST_NAME = 4  # characters
MOST_MENTIONS = 8  # sections that mention a name; a more frequent name links nothing
MOST_BRIDGES = 8  # of a section

_DESIGN = re.compile(r"design|architect|spec|rfc|adr|concept", re.I)
_TESTS = re.compile(r"(^|[/_.-])tests?([/_.-]|$)", re.I)
_BEFORE = r"(?:export\s+|default\s+|async\s+|pub\s+|static\s+|abstract\s+)*"
_KEYWORD = r"(?:def|class|func|fn|function|struct|interface|type|enum|trait)"
_DEFINED = re.compile(rf"^[ \t]*{_BEFORE}{_KEYWORD}\s+(\w+)", re.M)
_AT_MARGIN = re.compile(rf"{_BEFORE}{_KEYWORD}\s+(\w+)")
_COMMENT = re.compile(r"\s*(//|#|/\*|\*|@)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its path, in which `/` separates folders. time: ISO 8601 of its last change, or empty."""

    path: str
    text: str
    time: str = ""

    @property
    def language(self) -> str:
        return LANGUAGES.get(PurePosixPath(self.path).suffix.lower(), "text")

    @property
    def version(self) -> str:
        """First 8 hex digits of the text's SHA-256."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A part of a document; together its sections are the whole text. bridges: keys of related sections."""

    path: str
    name: str
    text: str
    domain: str
    language: str
    version: str
    time: str = ""
    bridges: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.path}#{self.name}"

    @property
    def segment(self) -> Segment:
        """The section as a segment to append to a lifetime."""
        meta = {
            "label": f"{self.path} § {self.name}",
            "path": self.path,
            "section": self.name,
            "domain": self.domain,
            "language": self.language,
            "version": self.version,
            "time": self.time,
            "bridges": "\n".join(self.bridges),
        }
        return Segment(self.text, meta={name: value for name, value in meta.items() if value})


@dataclass(frozen=True, slots=True)
class Dropped:
    """A section left out as a near-duplicate. like: key of the section it repeats; share: of word runs in common."""

    key: str
    like: str
    share: float


@dataclass(frozen=True, slots=True)
class Bridge:
    """A link between sections of different documents. names: those that the target defines and the source mentions."""

    source: str
    target: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """Documents to read in, in order.

    unchanged: paths that the lifetime already holds in this version. replaced: paths of which it holds an older
    version, which stays and counts as superseded.
    """

    sections: tuple[DocumentSection, ...]
    bridges: tuple[Bridge, ...]
    dropped: tuple[Dropped, ...]
    unchanged: tuple[str, ...]
    replaced: tuple[str, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(section.segment for section in self.sections)


def plan_corpus(
    documents: Iterable[Document], *, name: str = "", known: Mapping[str, str] | None = None, bridges: bool = True
) -> CorpusPlan:
    """Return documents in order, cut into sections, without near-duplicates, and linked.

    name: domain of documents outside a top folder with a README (such a folder is its own domain). known: versions that
    the lifetime holds already, by path.
    """
    versions = known or {}
    candidates = [document for document in documents if document.text.strip()]
    fresh = [document for document in candidates if versions.get(document.path) != document.version]
    domains = _domains(candidates, name)
    ordered = sorted(
        fresh,
        key=lambda document: (domains[document.path] != name, domains[document.path], _rank(document), document.path),
    )
    sections = [section for document in ordered for section in _sections(document, domains[document.path])]
    sections, dropped = _thin_sections(sections)
    links = _bridges(sections) if bridges else ()
    linked: defaultdict[str, list[str]] = defaultdict(list)
    for bridge in links:
        linked[bridge.source].append(bridge.target)
        linked[bridge.target].append(bridge.source)
    return CorpusPlan(
        sections=tuple(replace(piece, bridges=tuple(linked[piece.key][:MOST_BRIDGES])) for piece in sections),
        bridges=links,
        dropped=dropped,
        unchanged=tuple(
            sorted(document.path for document in candidates if versions.get(document.path) == document.version)
        ),
        replaced=tuple(document.path for document in ordered if document.path in versions),
    )


def _domains(documents: Sequence[Document], name: str) -> dict[str, str]:
    """Return each document's domain by path: its top folder if that has a README, else the corpus's name."""
    own = {
        PurePosixPath(document.path).parts[0]
        for document in documents
        if len(PurePosixPath(document.path).parts) == 2 and _rank(document) == 0
    }
    return {
        document.path: top if (top := PurePosixPath(document.path).parts[0]) in own else name for document in documents
    }


def _rank(document: Document) -> int:
    """Return the document's place in the order from README to tests."""
    if PurePosixPath(document.path).stem.lower() == "readme":
        return 0
    if _TESTS.search(document.path):
        return 4
    if document.language not in PROSE:
        return 3
    return 1 if _DESIGN.search(document.path) else 2


def _sections(document: Document, domain: str) -> list[DocumentSection]:
    """Cut a document at its headings or definitions."""
    if document.language == "python":
        cuts = _python_cuts(document.text)
    elif document.language == "markdown":
        cuts = _heading_cuts(document.text)
    elif document.language not in PROSE:
        cuts = _margin_cuts(document.text)
    else:
        cuts = []
    cuts = _even_cuts(document.text, cuts)
    ends = [*(at for at, _ in cuts[1:]), len(document.text)]
    title_counts: Counter[str] = Counter()
    sections = []
    for (start, title), end in zip(cuts, ends, strict=True):
        title_counts[title] += 1
        name = title if title_counts[title] == 1 else f"{title} ({title_counts[title]})"
        text = document.text[start:end]
        if end == len(document.text) and not text.endswith("\n\n"):
            text = text.rstrip("\n") + "\n\n"
        sections.append(
            DocumentSection(document.path, name, text, domain, document.language, document.version, document.time)
        )
    return sections


def _python_cuts(text: str) -> list[tuple[int, str]]:
    """Return where each top-level function or class begins; [] for a file that does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    cuts = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            cuts.append((lines[first - 1], node.name))
    return cuts


def _margin_cuts(text: str) -> list[tuple[int, str]]:
    """Return where each unindented definition begins, with the comment directly above it."""
    cuts, at, above = [], 0, -1
    for line in text.splitlines(keepends=True):
        defined = _AT_MARGIN.match(line)
        if defined:
            cuts.append((above if above >= 0 else at, defined[1]))
        if not _COMMENT.match(line):
            above = -1
        elif above < 0:
            above = at
        at += len(line)
    return cuts


def _heading_cuts(text: str) -> list[tuple[int, str]]:
    """Return where each heading of the first three levels begins, outside fenced code."""
    cuts, at, fenced = [], 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = re.match(r"#{1,3} +(.+)", line)
        if heading and not fenced:
            cuts.append((at, heading[1].strip()))
        at += len(line)
    return cuts


def _even_cuts(text: str, cuts: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the cuts with one at the beginning, and with long sections cut again between paragraphs."""
    if not cuts or cuts[0][0] > 0:
        cuts = [(0, "beginning"), *cuts]
    pieces = []
    ends = [*(at for at, _ in cuts[1:]), len(text)]
    for (start, title), end in zip(cuts, ends, strict=True):
        if end <= start:
            continue
        pieces.append((start, title))
        while end - start > LONGEST:
            gap = text.rfind("\n\n", start + LONGEST // 2, start + LONGEST)
            start = gap + 2 if gap > 0 else start + LONGEST
            if start < end:
                pieces.append((start, title))
    return pieces or [(0, "beginning")]


def _thin_sections(sections: Sequence[DocumentSection]) -> tuple[list[DocumentSection], tuple[Dropped, ...]]:
    """Return the sections without near-duplicates of earlier ones, and those that were dropped."""
    holders: defaultdict[int, list[int]] = defaultdict(list)
    survivors: list[DocumentSection] = []
    dropped = []
    for section in sections:
        words = _WORD.findall(section.text.lower())
        runs = {zlib.crc32(" ".join(words[at : at + SHINGLE]).encode()) for at in range(len(words) - SHINGLE + 1)}
        shared = Counter(place for run in runs for place in holders.get(run, ()))
        place, count = shared.most_common(1)[0] if shared else (0, 0)
        if len(words) >= LEAST_WORDS and count >= ALIKE * len(runs):
            dropped.append(Dropped(section.key, survivors[place].key, count / len(runs)))
            continue
        for run in runs:
            holders[run].append(len(survivors))
        survivors.append(section)
    return survivors, tuple(dropped)


def _bridges(sections: Sequence[DocumentSection]) -> tuple[Bridge, ...]:
    """Return links from sections to definitions that they mention by name in other documents, prose first."""
    defined: defaultdict[str, set[int]] = defaultdict(set)
    mentions: defaultdict[str, set[int]] = defaultdict(set)
    for at, section in enumerate(sections):
        if section.language not in PROSE:
            for name in _DEFINED.findall(section.text):
                if len(name) >= SHORTEST_NAME:
                    defined[name].add(at)
    for at, section in enumerate(sections):
        for word in set(_WORD.findall(section.text)) & defined.keys():
            mentions[word].add(at)
    shared: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for name, homes in defined.items():
        home = next(iter(homes))
        others = [at for at in mentions[name] if sections[at].path != sections[home].path]
        if len(homes) == 1 and len(others) <= MOST_MENTIONS:
            for at in others:
                shared[at, home].append(name)
    order = sorted(shared, key=lambda pair: (sections[pair[0]].language not in PROSE, -len(shared[pair]), pair))
    used: Counter[int] = Counter()
    bridges = []
    for source, target in order:
        if used[source] < MOST_BRIDGES and used[target] < MOST_BRIDGES:
            used[source] += 1
            used[target] += 1
            names = tuple(sorted(shared[source, target]))
            bridges.append(Bridge(sections[source].key, sections[target].key, names))
    return tuple(bridges)
