"""Candidates and memories for the tests of frames."""

from __future__ import annotations

from hypothesis import strategies as st

from amgs.types import Block, Candidate, ScoreParts
from tests.engine.retrieval_world import Link, note

CATEGORIES = ("fact", "person", "place", "value")
WORDS = ("dome", "motor", "encoder", "rye bread", "grandmother", "QX-7741-B", "router", "rain", "quiet mornings")


def candidate(content: str, score: float, tokens: int, *, category: str = "fact") -> Candidate:
    return Candidate(note(content, category=category), ScoreParts(similarity=score), score, tokens, child="A")


def candidates(most: int = 25) -> st.SearchStrategy[list[Candidate]]:
    """Distinct candidates in falling score."""
    made = st.builds(
        candidate,
        st.integers(0, 10_000).map(lambda n: f"block {n}"),
        st.integers(0, 100).map(lambda n: n / 100),
        st.integers(0, 60),
        category=st.sampled_from(CATEGORIES),
    )
    unique = st.lists(made, max_size=most, unique_by=lambda c: c.block.id)
    return unique.map(lambda found: sorted(found, key=lambda c: (-c.score, c.block.id)))


@st.composite
def memories(draw: st.DrawFn) -> tuple[list[Block], list[Link]]:
    """Up to a dozen blocks about few words, so that queries match and blocks repeat each other, and edges
    among them.
    """
    count = draw(st.integers(0, 12))
    blocks: dict[str, Block] = {}
    for i in range(count):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)))
        block = note(
            f"{text}{draw(st.sampled_from(['', '.', f' {i}']))}",
            hours_ago=draw(st.sampled_from([0.5, 30.0, 3000.0])),
            category=draw(st.sampled_from(CATEGORIES)),
            decay_lambda=draw(st.sampled_from([0.0001, 0.001, 0.01])),
            status=draw(st.sampled_from(["consolidated", "consolidated", "raw"])),
            is_self_component=draw(st.booleans()),
        )
        blocks[block.id] = block
    ends = st.integers(1, max(len(blocks), 1))
    links = draw(st.lists(st.builds(Link, ends, ends), max_size=12)) if blocks else []
    return list(blocks.values()), links
