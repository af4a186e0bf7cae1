"""How often a question is taken for one in another language than English, which silences what was fitted on English.

    python -m benchmarks.languages --english FILE … --foreign FILE …

Each file holds one question on a line. Printed is, by file, the share that is silenced by the rule, by nothing but the
script and another language's function words, by chance at the rule's own rate, and by two controls: always and never.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from amgs.text.language import foreign_question, foreign_text


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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--english", type=Path, nargs="*", default=[], help="files of English questions")
    parser.add_argument(
        "--foreign", type=Path, nargs="*", default=[], help="files of questions in other languages"
    )
    given = parser.parse_args(arguments)
    sys.stdout.write(report(given.english, given.foreign))


if __name__ == "__main__":
    main()
