"""Messages that say what was decided, and what is still owed: worth keeping whatever is asked (MEDIUM)."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.conversation.acts import acts
from amgs.conversation.slots import slots_in
from amgs.types.conversation import Message

_OPEN = {"question": "an open question", "goal": "a goal", "commitment": "a commitment"}


def important(messages: Sequence[Message]) -> dict[int, str]:
    """Why messages matter, by their places: a decision, or a question, goal or commitment that is open.

    Only of those who speak: what a tool puts out decides and promises nothing.
    """
    said = [n for n, m in enumerate(messages) if m.role in ("user", "assistant") and m.text.strip()]
    texts = [messages[n].text for n in said]
    found = {
        said[act.place]: _OPEN[act.kind]
        for act in acts(texts, [messages[n].speaker or messages[n].role for n in said])
        if act.closed_by is None
    }
    for place in said:
        first = next(slots_in(messages[place].text), None)  # decisions come before all else
        if first is not None and first[0] == "decision":
            found[place] = "a decision"
    return found
