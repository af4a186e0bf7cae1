"""A conversation as the text that a language model goes on from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel


def transcript(model: BaseModel, messages: Iterable[tuple[str, str]]) -> str:
    """Messages, (role, text), as the model expects turns, up to where its answer begins: what stands between two
    answers is one turn of the user.
    """
    prompt, waiting = "", list[str]()
    for role, text in messages:
        if role == "assistant":
            prompt += model.turn("\n\n".join(waiting)) + text + model.reopen(ended=False)
            waiting = []
        else:
            waiting.append(text)
    return prompt + model.turn("\n\n".join(waiting))
