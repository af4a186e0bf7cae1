"""A conversation as the prompt that a language model continues."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel


def transcript(model: BaseModel, messages: Iterable[tuple[str, str]]) -> str:
    """Return messages, (role, text), as the model's turns, ending where its answer begins.

    Messages between two answers of the assistant become one turn of the user.
    """
    prompt, waiting = "", list[str]()
    for role, text in messages:
        if role == "assistant":
            prompt += model.turn("\n\n".join(waiting)) + text + model.reopen(ended=False)
            waiting = []
        else:
            waiting.append(text)
    return prompt + model.turn("\n\n".join(waiting))
