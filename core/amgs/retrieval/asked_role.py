"""Find whose turns a question means in a chat with an assistant: "I mentioned" the user's, "you recommended" the
assistant's. The feature `other_role` lowers the other side's turns.
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
"""Names, in lower case, that chats give to the assistant's turns."""

_BETWEEN_SENTENCES = re.compile(r"(?<=[!?])\s+|(?<=\D\.)\s+|(?<=[。！？])\s*")


def find_asked_role(text: str) -> ChatRole | None:
    """Return whose turns the last question of a text asks for; None where it asks for neither or is no question.

    The first "I", "you" or "we" that is a subject decides ("What did you suggest for my garden?"), else the first
    "my" or "your". "What can I do" asks for neither.
    """
    words = table_of(text)
    asked = ""
    for sentence in _BETWEEN_SENTENCES.split(text):
        if "?" in sentence or "？" in sentence or words.asks.search(sentence) or words.request.match(sentence):
            asked = sentence
    asked = words.request.sub("", asked)
    # "can you" matches neither group, so the next subject decides; "we" means both, so nobody.
    for match in words.subject.finditer(asked):
        if match.lastgroup:
            return cast("ChatRole | None", None if match.lastgroup == "both" else match.lastgroup)
    own = words.own.search(asked)
    return cast("ChatRole", own.lastgroup) if own else None
