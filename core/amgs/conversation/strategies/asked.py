"""What a question asks for by its class alone ("What was the path?") is cited first, the newest before the older."""

from __future__ import annotations

from amgs.conversation.asked import asked_classes, holding, is_bare
from amgs.conversation.citing import source
from amgs.conversation.elements import ElementClass
from amgs.conversation.material import KEPT, Cited, Draft, Fate, Material

_SHARE = 0.75
"""Of the room that is left, at most: all but what the last messages may take."""
_LONGEST = 80
"""Tokens of a sentence that is cited whole; of a longer one the words that are asked for."""


def cite_asked(draft: Draft) -> int:
    """Cite the sentences that hold the class of words which a question without a subject names, while they take no more
    than their share of the room; how many messages that is.
    """
    material = draft.material
    if not is_bare(material.query):
        return 0
    classes = asked_classes(material.query)
    room = draft.used + int((material.budget - draft.used) * _SHARE)
    cited = 0
    for atom in sorted(material.atoms, key=lambda a: -a[-1]):
        if not draft.is_dropped(atom):
            continue
        cites: dict[int, Cited] = {}
        whole = False
        for place in atom:
            found = _pieces(material, place, classes)
            whole |= found is None
            if found:
                cites[place] = found
        if not cites and not whole:
            continue
        changes: dict[int, Fate] = material.citing(atom, cites)
        if whole and not changes:
            changes = dict.fromkeys(atom, KEPT)
        if draft.used + draft.cost(changes) <= room:
            draft.change(changes, "holds what the question asks for")
            cited += len(changes)
    return cited


def _pieces(material: Material, place: int, classes: frozenset[ElementClass]) -> Cited | None:
    """Numbers of the pieces of a message that hold the classes; None where it holds some in what cannot be cited."""
    message = material.messages[place]
    spans = holding(source(message), classes)
    if not spans:
        return ()
    pieces = material.pieces(place)
    chosen = set[int]()
    for start, end in spans:
        within = [
            number
            for number, (slot, a, b) in enumerate(pieces)
            if a < end
            and start < b
            and (slot != "sentence" or material.piece_cost(place, number) <= _LONGEST)
        ]
        chosen.update([n for n in within if pieces[n][0] == "sentence"] or within)
    return tuple(sorted(chosen)) if chosen else None
