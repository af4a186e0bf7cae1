"""Questions in other languages: how often they are told from English, and how well their answers are found.

    python -m benchmarks.languages --english FILE … --foreign FILE …
    python -m benchmarks.languages --manuals FILE … --encoder multilingual

Each file holds one question on a line. Printed is, by file, the share that is silenced by the rule, by nothing but the
script and another language's function words, by chance at the rule's own rate, and by two controls: always and never.

A manual is a text file (or .gz) with numbered sections, `3.2. How do I …` and the section indented below: each heading,
which is not stored, is asked for, and its section is right. Beside the search stand its layers alone and BM25.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from amgs.ingest.pieces import pieces
from amgs.ingest.raw_blocks import RawBlock
from amgs.ingest.readers import markdown
from amgs.text.embedders import chosen
from amgs.text.embedding import Embedder
from amgs.text.language import foreign_question, foreign_text
from benchmarks.documents import LIMIT
from benchmarks.references import METHODS, SearchControls
from benchmarks.stores import STILL, block_ids, drafts_store

FEWEST_CHARACTERS = 120
"""A section with fewer is no answer."""

MOST_QUESTIONS = 150
_HEADING = re.compile(r"(\d+(?:\.\d+)+)\.\s+(\S.*)$")


def report(english: Sequence[Path], foreign: Sequence[Path], seed: int = 0) -> str:
    """A Markdown table: a row a file, its share of silenced questions in per cent."""
    files = [(path, "English") for path in english] + [(path, "another") for path in foreign]
    asked = [[line for line in path.read_text("utf-8").splitlines() if line.strip()] for path, _ in files]
    silenced = [[foreign_question(each) for each in questions] for questions in asked]
    every = [one for part in silenced for one in part]
    shuffled = random.Random(seed).sample(every, len(every))
    lines = [
        "| questions | language | number | silenced | by other function words alone | shuffled | always | never |",
        "| --- | --- |" + " ---: |" * 6,
    ]
    at = 0
    for (path, language), questions, rule in zip(files, asked, silenced, strict=True):
        words = [foreign_text(each) for each in questions]
        mixed, at = shuffled[at : at + len(rule)], at + len(rule)
        cells = " | ".join(f"{100 * sum(part) / max(1, len(part)):.1f}" for part in (rule, words, mixed))
        lines.append(f"| {path.stem} | {language} | {len(rule)} | {cells} | 100 | 0 |")
    return "\n".join(lines) + "\n"


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The headings of a manual with what stands below each: of a number that comes twice, as in a table of contents,
    where most does.
    """
    found: dict[str, tuple[str, str]] = {}
    number, heading, body, open_ = "", "", list[str](), False
    for line in [*text.split("\n"), "0.0. end"]:
        match = _HEADING.match(line)
        if match:
            below = re.sub(r"\n{3,}", "\n\n", "\n".join(body)).strip()
            if number and len(below) > len(found.get(number, ("", ""))[1]):
                found[number] = heading, below
            number, heading, body, open_ = match[1], match[2], [], True
        elif open_ and line.strip() and not line.startswith("  "):
            heading = f"{heading} {line.strip()}"
        else:
            open_ = False
            body.append(line.strip())
    return ((heading, below) for heading, below in found.values() if len(below) >= FEWEST_CHARACTERS)


def manual(path: Path, embedder: Embedder, seed: int = 0) -> str:
    """A row of a Markdown table: hit@1 and MRR@10 of each method on one manual, in per cent."""
    text = (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8").read()
    drafts, right = list[RawBlock](), defaultdict[str, list[str]](list)
    for heading, below in sections(text):
        for piece in pieces(markdown.document(below), LIMIT):
            place = len(drafts) + 1
            meta: dict[str, object] = {"source": f"manual#{place}", "part": place}
            drafts.append(RawBlock(piece.text, meta=meta | ({"follows": f"manual#{place - 1}"} if place > 1 else {})))
            right[heading].append(f"manual#{place}")
    asked = list(right)
    random.Random(seed).shuffle(asked)
    ranks = defaultdict[str, list[float]](list)
    with drafts_store(drafts, STILL, embedder) as memory:
        controls = SearchControls(memory, seed)
        for heading in asked[:MOST_QUESTIONS]:
            wanted = frozenset().union(*block_ids(memory, right[heading]))
            for method, ids in controls.ask(heading, path.stem, [wanted]).ranked.items():
                ranks[method].append(next((1 / n for n, each in enumerate(ids, 1) if each in wanted), 0.0))
    cells = (f"{100 * np.mean(np.array(ranks[m]) == 1):.1f}, {100 * np.mean(ranks[m]):.1f}" for m in METHODS)
    return f"| {path.stem} | {len(drafts)} | {len(ranks[METHODS[0]])} | {' | '.join(cells)} |\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--english", type=Path, nargs="*", default=[], help="files of English questions")
    parser.add_argument("--foreign", type=Path, nargs="*", default=[], help="files of questions in other languages")
    parser.add_argument("--manuals", type=Path, nargs="*", default=[], help="manuals with numbered sections")
    parser.add_argument("--encoder", default="", help="as `model.embedder`: empty, multilingual or a folder")
    given = parser.parse_args(arguments)
    if given.english or given.foreign:
        sys.stdout.write(report(given.english, given.foreign))
    if given.manuals:
        sys.stdout.write(f"| manual | blocks | questions | {' | '.join(METHODS)} |\n")
        sys.stdout.write("| --- |" + " ---: |" * (len(METHODS) + 2) + "\n")
    for path in given.manuals:
        sys.stdout.write(manual(path, chosen(given.encoder)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
