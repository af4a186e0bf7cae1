"""Whose turns a question means in a chat with an assistant: "I mentioned" the user's, "you recommended" the
assistant's.
"""

from __future__ import annotations

import re
from typing import Literal, cast

from amgs.text.language_tables import table_of

ChatRole = Literal["user", "assistant"]

USERS = frozenset({"human", "user"})
ASSISTANTS = frozenset(
    {"ai", "assistant", "bot", "chatbot", "chatgpt", "claude", "codex", "copilot", "gemini", "llm", "model"}
)
"""Names, in lower case, under which chats with a program keep their turns."""

_BETWEEN_SENTENCES = re.compile(r"(?<=[!?])\s+|(?<=\D\.)\s+|(?<=[。！？])\s*")


def find_asked_role(text: str) -> ChatRole | None:
    """Whose turns the last question of a text asks for: None where it asks for neither or is no question.

    The first "I", "you" or "we" that is a subject decides ("What did you suggest for my garden?"), else the first
    "my" or "your". What one can or should do asks for nobody's words.
    """
    words = table_of(text)
    asked = ""
    for sentence in _BETWEEN_SENTENCES.split(text):
        if "?" in sentence or "？" in sentence or words.asks.search(sentence) or words.request.match(sentence):
            asked = sentence
    asked = words.request.sub("", asked)
    # Of "can you" neither group is filled: the next subject is looked for, and "we" ends it.
    for match in words.subject.finditer(asked):
        if match.lastgroup:
            return cast("ChatRole | None", None if match.lastgroup == "both" else match.lastgroup)
    own = words.own.search(asked)
    return cast("ChatRole", own.lastgroup) if own else None
