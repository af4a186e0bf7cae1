"""Reading markdown: nothing is lost, nothing is invented, nothing makes it fall over."""

from __future__ import annotations

from amgs.ingest.readers import line_ranges
from amgs.text import markdown


def test_front_matter_that_never_closes_is_body() -> None:
    text = "---\ndate: 2026-03-01\nBody without an end"
    assert line_ranges.read_front_matter(text) == (line_ranges.NO_FRONT_MATTER, text)


def test_turns_carry_their_speaker_and_paragraphs_without_one_continue() -> None:
    body = "# Evening\n\n**Nuria:** Ten past five.\n\nAnd cold.\n\n**Tally:** Writing.\n\n**Ilse**: Hm."
    assert [(t.speaker, t.text) for t in markdown.turns(body)] == [
        ("Nuria", "Ten past five.\n\nAnd cold."),
        ("Tally", "Writing."),
        ("Ilse", "Hm."),
    ]


def test_what_stands_before_the_first_turn_is_kept_without_a_speaker() -> None:
    assert markdown.turns("Rain all day.\n\n**A:** Hello.")[0] == markdown.ChatTurn("", "Rain all day.")
