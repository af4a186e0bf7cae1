"""A corpus as a lifetime: the order, the sections, what is left out, the bridges, and what a bridge does to a score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.tree.corpus import Document, plan_corpus

GUARD = "import time\n\n@once\ndef stall_guard(motor):\n    motor.stop()\n\n\nclass Watch:\n    pass\n"
FILES = (
    Document("src/guard.py", GUARD, "2026-03-01T00:00:00+00:00"),
    Document("tests/test_guard.py", "def test_it():\n    assert stall_guard(None)\n"),
    Document("docs/usage.md", "# Usage\n\nCall it.\n"),
    Document(
        "docs/design.md", "# Design\n\nThe `stall_guard` stops.\n\n```sh\n# no heading\n```\n\n## Why\n\nIt slips.\n"
    ),
    Document("README.md", "A dome.\n\n# Parts\n\nMany.\n"),
    Document("lib/README.md", "# Library\n\nOther things.\n"),
    Document("lib/a.go", "func openDome() {}\n"),
)


def test_documents_follow_the_chain_and_a_folder_with_a_readme_is_a_domain_of_its_own() -> None:
    plan = plan_corpus(FILES, name="dome")
    paths = list(dict.fromkeys(one.path for one in plan.sections))
    assert paths == [
        "README.md", "docs/design.md", "docs/usage.md", "src/guard.py", "tests/test_guard.py",
        "lib/README.md", "lib/a.go",
    ]  # fmt: skip
    assert {one.domain for one in plan.sections if one.path.startswith("lib")} == {"lib"}
    assert {one.domain for one in plan.sections if not one.path.startswith("lib")} == {"dome"}


def test_sections_begin_at_headings_and_definitions_and_are_the_whole_text() -> None:
    plan = plan_corpus(FILES, name="dome")
    names = [one.name for one in plan.sections if one.path in ("src/guard.py", "docs/design.md", "README.md")]
    assert names == ["beginning", "Parts", "Design", "Why", "beginning", "stall_guard", "Watch"]
    code = [one for one in plan.sections if one.path == "src/guard.py"]
    assert "".join(one.text for one in code) == GUARD + "\n"
    assert code[1].text.startswith("@once\ndef") and code[1].time == "2026-03-01T00:00:00+00:00"


@given(
    st.lists(
        st.sampled_from(
            ["# a\n", "# a\n\n", "text ", "\n\n", "def f(): 1\n", "// c\n", "fn g() {}\n", "```\n", "x" * 3000, "é\r\n"]
        ),
        max_size=9,
    ),
    st.sampled_from(["a.md", "a.py", "a.txt", "a.rs"]),
)
def test_nothing_of_a_document_is_lost_or_moved(parts: list[str], path: str) -> None:
    text = "".join(parts)
    plan = plan_corpus([Document(path, text)])
    made = "".join(one.text for one in plan.sections)
    assert made.rstrip("\n") == (text.rstrip("\n") if text.strip() else "") or plan.dropped
    assert len({one.key for one in plan.sections}) == len(plan.sections)


def test_what_another_section_says_nearly_word_for_word_is_left_out_and_named() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    plan = plan_corpus(
        [
            Document("a.md", words),
            Document("b.md", words + " more"),
            Document("c.md", "short"),
            Document("d.md", "short"),
        ]
    )
    assert [one.path for one in plan.sections] == ["a.md", "c.md", "d.md"]
    assert [(one.key, one.like) for one in plan.dropped] == [("b.md#beginning", "a.md#beginning")]
    assert plan.dropped[0].share == pytest.approx(57 / 58)


def test_a_bridge_links_what_defines_a_name_with_what_speaks_of_it() -> None:
    plan = plan_corpus(FILES, name="dome")
    assert {(one.source, one.target, one.names) for one in plan.bridges} == {
        ("docs/design.md#Design", "src/guard.py#stall_guard", ("stall_guard",)),
        ("tests/test_guard.py#test_it", "src/guard.py#stall_guard", ("stall_guard",)),
    }
    linked = {one.key: one.bridges for one in plan.sections if one.bridges}
    assert linked["src/guard.py#stall_guard"] == ("docs/design.md#Design", "tests/test_guard.py#test_it")
    assert plan_corpus(FILES, name="dome", bridges=False).bridges == ()


def test_what_is_there_already_is_not_read_in_again_and_what_changed_replaces() -> None:
    known = {one.path: one.version for one in FILES}
    assert plan_corpus(FILES, known=known).sections == ()
    changed = [*FILES[1:], Document("src/guard.py", GUARD + "\n# end\n")]
    plan = plan_corpus(changed, known=known)
    assert plan.replaced == ("src/guard.py",) and {one.path for one in plan.sections} == {"src/guard.py"}
    assert len(plan.unchanged) == len(FILES) - 1
