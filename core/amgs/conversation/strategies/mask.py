"""Old outputs of tools become one line each; if that is not enough, the oldest messages go. Blind to the query.

The simplest that works: halves what an agent pays at an equal rate of solved tasks (arXiv 2508.21433).
"""

from __future__ import annotations

from amgs.conversation.material import Draft


def mask(draft: Draft) -> None:
    """Keep the newest atoms whole while all before them fit as lines, then the newest that fit at all."""
    material = draft.material
    newest = sorted((a for a in material.atoms if draft.is_dropped(a)), key=lambda a: -a[-1])
    rest = sum(sum(material.masked[place] for place in atom) for atom in newest)
    for atom in newest:
        rest -= sum(material.masked[place] for place in atom)
        whole = draft.fits(atom, within=material.budget - rest)
        if whole or draft.fits(atom, masked=True):
            draft.keep(atom, "recent" if whole else "its output is old", masked=not whole)
        else:
            break
