"""Sentences that several tables and figures say: whether a memory answers a question, and where the focus cannot do
what it was meant to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from amgs.text.plural import plural

if TYPE_CHECKING:
    from amgs_focus.views import FocusView


_MOST_WORDS = 4


class AnswerFindings(Protocol):
    """What a search found out about an answer; see `SearchResult`."""

    @property
    def answerable(self) -> float | None: ...
    @property
    def unestimated(self) -> str: ...
    @property
    def unheld(self) -> tuple[str, ...]: ...


def answer_told(result: AnswerFindings) -> list[str]:
    """Sentences: the words that no block holds, and the estimate where there is one that says something."""
    told = []
    if result.unheld:
        named = ", ".join(f"“{word}”" for word in result.unheld[:_MOST_WORDS])
        more = len(result.unheld) - _MOST_WORDS
        told.append(
            f"no block holds {named}" + (f" or {plural(more, 'other word')} of it" if more > 0 else "")
        )
    if result.answerable is not None:
        from amgs.retrieval.answerable import in_words

        told += [f"{said} in memory (estimated)" for said in (in_words(result.answerable),) if said]
    return told


UNTRAINED = "no trained gists exist for this model"
WARNING = (
    "No trained gists exist for this model: spans are held by pointer gists, which lose nearly everything but their "
    "last token. Train some (focus train gistnet), or put a checkpoint into the folder of [paths] checkpoints."
)


def unheld(view: FocusView) -> str:
    """Which pinned spans the window is too full for, and what to do."""
    nodes = ", ".join(str(node) for node in view.unheld)
    return f"No room for what is pinned: {nodes}. Widen the window (focus set window N), or release a pin."
