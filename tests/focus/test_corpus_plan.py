"""A corpus as a lifetime: the order, the sections, what is left out, the bridges, and what a bridge does to a score."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.scoring import BridgedScorer, LensView
from amgs_focus.records import NodeRef
from amgs_focus.runtime.replay import header_of
from amgs_focus.trace.trace import TraceWriter, read
from amgs_focus.tree.corpus import Document, plan_corpus
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import coarsest
from amgs_focus.window.working_context import WorkingContext, aggregate
from tests.focus.focus_world import MODEL, Told, notes, small_runtime

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


def read_in() -> tuple[LifetimeTree, WorkingContext, dict[str, NodeRef]]:
    """Each section a block of 32 bytes in a window of level-1 gists, and the gist of each section."""
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=32)
    plan = plan_corpus(FILES, name="dome")
    gists = {}
    for section in plan.sections:
        segment = section.segment
        gists[section.key] = NodeRef(1, tree.length // 32)
        tree.append_segment(type(segment)(segment.text[:32].ljust(32), meta=segment.meta))
    tree.append([97] * 70)
    context = coarsest(tree, 512, 2)
    return tree, context, gists


def test_what_is_wanted_lifts_what_it_has_a_bridge_to_and_nothing_else() -> None:
    tree, context, gists = read_in()
    design, guard = gists["docs/design.md#Design"], gists["src/guard.py#stall_guard"]
    inner = Told({design: 0.6}, default=-0.1)
    view = LensView(context, tree)
    plain, bridged = inner.score(view), BridgedScorer(inner, 0.25).score(view)
    gained = aggregate(context, bridged.values) - aggregate(context, plain.values)
    place = context.position(guard)
    assert place is not None and gained[place] == pytest.approx(0.25 * 0.6)
    assert np.flatnonzero(gained).tolist() == [place]
    assert sum(part for part in bridged.parts.values()) == pytest.approx(bridged.values)
    assert (BridgedScorer(inner, 0.25).name, BridgedScorer(inner, 0.25).version) == (inner.name, inner.version)


def test_the_share_that_crosses_a_bridge_is_part_of_the_state_and_older_traces_had_a_half() -> None:
    runtime = small_runtime()
    runtime.ingest(notes(4))
    other = runtime.settings.model_copy(update={"bridge_share": 0.25})
    state = runtime.state
    assert state.digest("") != dataclasses.replace(state, settings=other).digest("")
    header = header_of(runtime)
    bare = {name: value for name, value in header.settings.items() if name != "bridge_share"}
    writer = TraceWriter(None, dataclasses.replace(header, settings=bare))
    assert read(writer.raw(), allow_incomplete=True).header.settings["bridge_share"] == 0.5
