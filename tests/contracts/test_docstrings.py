"""Docstrings of functions begin with a verb in the imperative (PEP 257), nine of ten at the least."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")
NO_VERB = re.compile(
    "a|all|an|any|as|at|by|each|every|for|from|here|how|in|it|no|nothing|of|one|that|the|this|those|what|when|where|"
    "whether|which|who|whose|why|with",
    re.IGNORECASE,
)


def read_first_words(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each function that is no property, with the first word of its docstring."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node)
                if docstring and not any("property" in ast.unparse(mark) for mark in node.decorator_list):
                    yield f"{path.relative_to(ROOT)}:{node.name}", docstring.split()[0].strip(".,:;")


def is_imperative(word: str) -> bool:
    """Return whether a first word may be an imperative: a capital, no article or question, no third person."""
    plain = word.isalpha() and word[0].isupper() and not NO_VERB.fullmatch(word)
    return plain and (word.endswith("ss") or not word.endswith("s"))


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    words = [entry for package in PACKAGES for entry in read_first_words(ROOT / package)]
    without = [name for name, word in words if not is_imperative(word)]
    assert len(words) > 1_000
    assert len(without) <= 0.1 * len(words), "\n".join(without)
