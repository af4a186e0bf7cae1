"""Text of a block for its embedding."""

from __future__ import annotations

from amgs.text.intervals import remove_datelines
from amgs.text.prose import readable
from amgs.types import Block
from amgs.types.block import untold


def embedding_text(block: Block) -> str:
    """Return a block's words, under the headings that it stands under where the text does not tell them.

    Markup and addresses are not embedded: an encoder reads some hundred tokens, and badges would fill them. A line
    that holds only a date says when and not what; words find it, a vector would only blur.
    """
    return "\n".join([*untold(block.content, block.meta), remove_datelines(readable(block.content))])
