"""Messages given back at a shorter level: nothing that is not theirs, and every class held against the originals."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.conversation.citing import source
from amgs.conversation.findings import find_slots, names_of
from amgs.conversation.render import reconstruct
from amgs.conversation.why import elements, holds, of_pieces, read_handles, survival
from amgs.types.conversation import Message, ToolCall
from amgs.types.conversation_views import RESTORE_LEVELS, worst

_GLUE = re.compile(
    r"\[#\d+(-\d+)?\]|\n#\d+ [^\n]+: |\n| ?… ?|\n(decision|commitment|name|number|date|path|command|id): |; "
    r"| \(#\d+\)|; \d+ more|#\d+ [^\n]+: "
)
_TEXTS = st.sampled_from(
    [
        "We decided to use DuckDB. It took 4,120 ms on 2026-03-04. I did not like it.",
        "Run `pytest -q tests/unit` in src/bakery/oven.py, see #432.",
        "```\nkeel = 12.5\nrope = 3\n```\nI will paint the mast for Mara Holt tomorrow.",
        "Is the oven on?",
        "",
        "4.50 … ¿\0\n\n#7",
        "Ünïcode 🎉 Straße 7",
    ]
)
_MESSAGES = st.lists(st.tuples(_TEXTS, st.booleans()), min_size=1, max_size=6).map(
    lambda said: [
        Message(
            number,
            "assistant" if calls else "user",
            text,
            speaker="Mara",
            calls=(ToolCall(f"c{number}", "bash", '{"command": "make test"}'),) if calls else (),
        )
        for number, (text, calls) in enumerate(said, 5)
    ]
)


@given(_MESSAGES, st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_every_piece_is_a_messages_own_or_known_glue_and_each_level_holds_the_one_before(
    messages: list[Message], most: int
) -> None:
    found = elements(messages)
    said = {message.number: source(message) for message in messages}
    before: dict[str, int] = {}
    for level in RESTORE_LEVELS[:-1]:
        pieces = reconstruct(messages, found, level, most)
        assert pieces == reconstruct(messages, found, level, most)
        for piece in pieces:
            if piece.number:
                assert said[piece.number][piece.start : piece.end] == piece.text
            else:
                assert _GLUE.fullmatch(piece.text), piece.text
        classes = survival(found, messages, *of_pieces(pieces))
        assert all(one.lost == 0 and not one.invented for one in classes)
        here = {one.kind: one.in_window for one in classes}
        assert all(here[kind] >= count for kind, count in before.items())
        before = here
    assert worst(classes) == "whole"


def test_what_a_text_makes_up_and_what_it_leaves_out_are_found_by_class() -> None:
    said = [
        Message(1, "user", "The keel weighs 4,120 kg and lies in /srv/keel.txt."),
        Message(2, "assistant", "I will not move it before Mara Holt came."),
        Message(3, "user", "Ask Mara Holt on 2026-03-04 then."),
    ]
    found = elements(said)
    text = "In /srv/keel.txt: 4,210 kg. Ask Nora Birk (#2)."
    classes = {one.kind: one for one in survival(found, said, text, read_handles(text))}
    assert classes["number"].invented == ("4,210 kg",) and classes["number"].lost == 1
    assert classes["name"].invented == ("Nora Birk",)
    assert (classes["path"].in_window, classes["path"].verdict) == (1, "whole")
    assert (classes["negation"].one_handle_away, classes["date"].lost) == (1, 1)
    assert classes["name"].missing == (("Mara Holt", "#3"),) and classes["name"].one_handle_away == 1
    assert worst(tuple(classes.values())) == "invented"
    kept = replace(classes["number"], invented=())
    assert worst((kept, classes["path"])) == "lost"


def test_a_cut_number_is_not_the_number() -> None:
    assert holds("it cost 4.50 there", "4.50") and holds("(7)", "7") and holds("ends in 7.", "7")
    assert not any(holds("it cost 14.50 and 1,300", value) for value in ("4.50", "50", "14", "300"))
    assert holds("at 2026-02-27T07:15:45Z", "2026-02-27") and not holds("2026-02-27Tx", "2026-02-27")
    assert holds("a.py", "a.py") and not holds("data.py", "a.py")


def test_words_of_speech_are_no_names_and_amounts_are_whole() -> None:
    said = ["Yeah . Okay , so Kay ?", "Uh {gap} Yes . Then ask Nancy .", "We gave Nancy twenty five euros ."]
    names = names_of(said)
    found = [(slot, text[a:b]) for text in said for slot, a, b in find_slots(text, None, names)]
    assert found == [("name", "Nancy"), ("number", "twenty five euros"), ("name", "Nancy")]
    told = "200,000 people got $4 billion at 5:30pm for 61-yard sails; see v1.2.3, JIRA-12, https://x.org/a?b=1."
    assert [(slot, told[a:b]) for slot, a, b in find_slots(told)] == [
        ("id", "v1.2.3"),
        ("id", "JIRA-12"),
        ("id", "https://x.org/a?b=1"),
        ("date", "5:30pm"),
        ("number", "200,000"),
        ("number", "$4 billion"),
        ("number", "61"),
    ]
    shell = 'Make sense of it.\n```sh\npip install x\n```\n{"command": "git push"}\n$ ls -l\nfind out'
    assert [shell[a:b] for slot, a, b in find_slots(shell) if slot == "command"] == [
        "git push",
        "ls -l",
        "pip install x",
    ]
