"""Reading markdown: nothing is lost, nothing is invented, nothing makes it fall over."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from amgs.text import front_matter, markdown, splitting


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(st.text(max_size=3000), st.integers(min_value=20, max_value=400))
def test_splitting_loses_no_character_but_white_space(body: str, limit: int) -> None:
    parts = splitting.split(body, limit)
    assert squeezed("".join(parts)) == squeezed(body)


@given(st.text(alphabet="ab \n.#", max_size=3000), st.integers(min_value=20, max_value=400))
def test_no_part_is_longer_than_the_limit(body: str, limit: int) -> None:
    assert all(len(part) <= limit for part in splitting.split(body, limit))


def test_one_line_of_ten_megabytes_is_split_in_reasonable_time() -> None:
    parts = splitting.split("x" * 10_000_000, 1600)
    assert len(parts) == 6250
    words = splitting.split("word " * 400_000, 1600)
    assert all(len(part) <= 1600 for part in words)


def test_a_long_note_is_cut_before_its_headings() -> None:
    section = "text " * 30
    body = f"# One\n\n{section}\n\n## Two\n\n{section}\n\n## Three\n\n{section}"
    assert [part.split("\n")[0] for part in splitting.split(body, 200)] == ["# One", "## Two", "## Three"]


def test_front_matter_reads_values_and_both_kinds_of_lists() -> None:
    text = "---\ndate: 2026-03-01\ntags: [a, 'b c']\nnames:\n  - x\n  - y\ntitle: \"T: u\"\n---\nBody"
    found, body = front_matter.read(text)
    assert body == "Body"
    assert found.unread == ()
    assert found.values == {"date": "2026-03-01", "tags": ["a", "b c"], "names": ["x", "y"], "title": "T: u"}


def test_front_matter_that_never_closes_is_body() -> None:
    text = "---\ndate: 2026-03-01\nBody without an end"
    assert front_matter.read(text) == (front_matter.NONE, text)


def test_turns_carry_their_speaker_and_paragraphs_without_one_continue() -> None:
    body = "# Evening\n\n**Nuria:** Ten past five.\n\nAnd cold.\n\n**Tally:** Writing.\n\n**Ilse**: Hm."
    assert [(t.speaker, t.text) for t in markdown.turns(body)] == [
        ("Nuria", "Ten past five.\n\nAnd cold."),
        ("Tally", "Writing."),
        ("Ilse", "Hm."),
    ]


def test_what_stands_before_the_first_turn_is_kept_without_a_speaker() -> None:
    assert markdown.turns("Rain all day.\n\n**A:** Hello.")[0] == markdown.Turn("", "Rain all day.")


def test_links_are_slugs_without_label_and_part() -> None:
    text = "See [[Spare Keys]], [[alp-sura|the alp]], [[radio-use#channel 4]], [[spare keys]] and [[]] [[open"
    assert markdown.links(text) == ("spare-keys", "alp-sura", "radio-use")


def test_only_a_heading_at_the_top_is_a_title() -> None:
    assert markdown.title("\n\n## The dome ##\ntext") == "The dome"
    assert markdown.title("text\n# later") == ""
