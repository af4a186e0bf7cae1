"""Whose turns a question means in a chat with an assistant."""

from __future__ import annotations

import numpy as np
import pytest

from amgs.retrieval.features import LONGEST_TURN
from amgs.retrieval.similarity import WEIGHTS
from amgs.retrieval.sources import find_asked_role
from amgs.retrieval.waterfall import RetrievalRequest, search
from amgs.types import Block, SearchResult
from tests.engine.retrieval_world import Link, note, parts, world

CHAT = [
    ("User", "User: My kettle is a blue Alda, and it leaks at the spout."),
    ("Assistant", "Assistant: A kettle that leaks at the spout needs a new kettle gasket for its spout."),
    ("User", "User: The gate squeaks."),
    ("Assistant", "Assistant: Oil the hinges of the gate."),
]


@pytest.mark.parametrize(
    "question",
    [
        "What did I say about my sister?",
        "Which ideas of yours did I like?",
        "Can you remind me what I said about my sister?",
        "I forgot where I live.",
        "What's my sister's name?",
        "Can you recommend a book for my sister?",
        "How old am I?",
        "In AGENTS.md, what did I want?",
        "Was habe ich dir über meine Schwester erzählt?",
        "Où suis-je allé avec ma sœur ?",
        "¿Dónde comí con mi hermana?",
        "我跟你说过我妹妹什么？",
        "私は妹について何と言いましたか？",
    ],
)
def test_i_means_the_user(question: str) -> None:
    assert find_asked_role(question) == "user"


@pytest.mark.parametrize(
    "question",
    [
        "What did you suggest for my garden?",
        "Do you remember which book you recommended?",
        "I don't remember which hotel you named.",
        "When should I prune it, did you say?",
        "The gate squeaks. What was your advice?",
        "Was hast du mir am 3. Mai für das Tor empfohlen?",
        "Que m'as-tu conseillé pour le portail ?",
        "¿Qué me recomendaste para la verja?",
        "你推荐我怎么修门？",
        "門について何を勧めてくれましたか？",
    ],
)
def test_you_means_the_assistant(question: str) -> None:
    assert find_asked_role(question) == "assistant"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What did we say about my sister?",
        "What should I wear?",
        "Can you recommend a hotel?",
        "What colour is the gate?",
        "I want to mend my gate.",
        "I told you of the gate. What colour is it?",
        "Worüber haben wir gesprochen?",
        "De quelle couleur est le portail ?",
        "¿De qué hablamos ayer?",
        "我们聊了什么？",
    ],
)
def test_what_asks_for_neither_means_nobody(text: str) -> None:
    assert find_asked_role(text) is None


def chat(*names: str, turns: list[tuple[str, str]] = CHAT, source: str = "chat") -> list[Block]:
    """The chat with its two speakers called otherwise."""
    called = dict(zip(("User", "Assistant"), names or ("User", "Assistant"), strict=True))
    return [
        note(f"{called[who]}: {text.split(': ', 1)[1]}", meta={"source": f"{source}#{i}", "speaker": called[who]})
        for i, (who, text) in enumerate(turns)
    ]


def ask(blocks: list[Block], question: str) -> SearchResult:
    order = [Link(i, i + 1, "next", weight=0.6) for i in range(1, len(blocks))]
    return search(RetrievalRequest(question), world(blocks, order), 10)


@pytest.mark.parametrize("names", [("User", "Assistant"), ("Human", "Claude"), ("Ilse", "ChatGPT")])
def test_the_turns_of_the_other_step_back(names: tuple[str, str]) -> None:
    user, assistant = names
    mine, yours = (
        ask(chat(*names), question)
        for question in ("What did I say of the kettle's spout?", "What did you say of the kettle's spout?")
    )
    assert mine.hits[0].block.content.startswith(f"{user}: My kettle")
    assert yours.hits[0].block.content.startswith(f"{assistant}: A kettle")
    assert parts(mine, f"{assistant}: A kettle")["other_role"] == WEIGHTS["other_role"] < 0
    assert parts(yours, f"{user}: My kettle")["other_role"] == WEIGHTS["other_role"]
    assert parts(mine, f"{user}: My kettle")["other_role"] == 0


def test_a_pasted_page_gains_no_more_by_its_length_than_a_long_turn() -> None:
    turns = [*CHAT, ("User", "User: the spout " + "and so on and on " * 400), ("Assistant", "Assistant: Yes.")]
    found = ask(chat(turns=turns), "which kettle leaks at the spout")
    assert parts(found, "User: the spout")["turn_length"] == pytest.approx(WEIGHTS["turn_length"] * LONGEST_TURN)
    assert np.isfinite([hit.score for hit in found.hits]).all()
