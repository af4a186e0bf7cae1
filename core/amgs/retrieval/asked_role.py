"""Whose turns a question means in a chat with an assistant: "I mentioned" the user's, "you recommended" the
assistant's.
"""

from __future__ import annotations

import re
from typing import Literal

ChatRole = Literal["user", "assistant"]

USERS = frozenset({"human", "user"})
ASSISTANTS = frozenset(
    {"ai", "assistant", "bot", "chatbot", "chatgpt", "claude", "codex", "copilot", "gemini", "llm", "model"}
)
"""Names, in lower case, under which chats with a program keep their turns."""

_ROLES: dict[str, ChatRole | None] = {"i": "user", "you": "assistant", "we": None}
_MODALS = r"(?:can|could|may|might|must|shall|should|will|would)"
_REQUEST = re.compile(
    rf"^\W*(?:(?:and|but|hello|hey|hi|ok|okay|please|so)\b\W*)*(?:(?:do|{_MODALS})\s+you\s+(?:(?:please|still)\s+)?"
    r"(?:know|recall|remember|remind\s+me|tell\s+me)|(?:remind|tell)\s+me|i\s+(?:forgot|forget|(?:can(?:['’]t|not)|do(?:n['’]t|"
    r"\s+not))\s+(?:recall|remember)))\b",
    re.IGNORECASE,
)
"""What asks for an answer and is no part of the question: "Do you remember", "Tell me"."""
_ASKS = re.compile(
    r"^\W*(?:what|when|where|which|who|whom|whose|why|how|in\s+(?:what|which)|am|are|did|do|does|had|has|have|is|was|were)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"(?<!\w)(?:{_MODALS}(?:n['’]t)?\s+(?:i|you|we)\b|(i|you|we)(?=['’]|\s+(?!{_MODALS}\b)\w|\W*$))", re.IGNORECASE
)
_OWN = re.compile(r"\b(?:(me|mine|my|myself)|(?:your|yours|yourself))\b", re.IGNORECASE)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")


def asked_role(text: str) -> ChatRole | None:
    """Whose turns the last question of a text asks for: None where it asks for neither or is no question.

    The first "I", "you" or "we" that is a subject decides ("What did you suggest for my garden?"), else the first
    "my" or "your". What one can or should do asks for nobody's words.
    """
    asked = ""
    for sentence in _BETWEEN_SENTENCES.split(text):
        if "?" in sentence or _ASKS.match(sentence) or _REQUEST.match(sentence):
            asked = sentence
    asked = _REQUEST.sub("", asked)
    for found in _SUBJECT.finditer(asked):
        if found[1]:
            return _ROLES[found[1].lower()]
    own = _OWN.search(asked)
    return None if own is None else "user" if own[1] else "assistant"
