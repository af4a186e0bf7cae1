"""What is said of whether a memory answers a question: the same under a search and under a pack that was kept."""

from __future__ import annotations

from typing import Protocol

from amgs.text.plural import plural

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
