"""A token count without a tokenizer: close enough to budget by until a language model brings its own."""

from __future__ import annotations

import re
from typing import Protocol

_PIECE = re.compile(r"[A-Za-z]{1,6}|\d|[^\sA-Za-z\d]|\n")


class CountTokens(Protocol):
    """Function that counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


def approximate_tokens(text: str) -> int:
    """Words of up to six letters count one, longer ones one for each six.

    Digits, signs and line ends one each.
    """
    return len(_PIECE.findall(text))
