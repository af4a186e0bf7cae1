"""What stands around a user's words and a model's answer, read from the tokenizer's own chat template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ASKED, ANSWERED, AGAIN = "FIRST-WORDS-OF-THE-USER", "WORDS-OF-THE-MODEL", "NEXT-WORDS-OF-THE-USER"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """opening: text before the user's first words. closing: between them and the answer. reopening: between an
    answer and the user's next words.
    """

    opening: str
    closing: str
    reopening: str


def chat_template(tokenizer: Any) -> ChatTemplate | None:
    """What the tokenizer's template puts around words; None where it has none, or one for other uses."""
    if not getattr(tokenizer, "chat_template", None):
        return None
    user, answer = {"role": "user", "content": ASKED}, {"role": "assistant", "content": ANSWERED}
    again = {"role": "user", "content": AGAIN}
    # Models that can think aloud are asked not to: an answer is read as it is decoded.
    how = {"tokenize": False, "enable_thinking": False}
    try:
        asked = str(tokenizer.apply_chat_template([user], add_generation_prompt=True, **how))
        talk = str(tokenizer.apply_chat_template([user, answer, again], **how))
        opening, closing = asked.split(ASKED)
        reopening = talk.split(ANSWERED)[1].split(AGAIN)[0]
    except Exception:  # noqa: BLE001 - a template is a program of its own and raises what it likes
        return None
    return ChatTemplate(opening, closing, reopening)
