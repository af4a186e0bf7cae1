"""What a compaction threw away: of each class of findings, what is left word for word, in other words, or not at
all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import dropped_at, opening_after, tokens_dropped, tokens_of_all
from amgs.wings.sessions.findings import FINDING_CLASSES, FindingClass, SessionFinding, findings_in

_WORD = re.compile(r"[A-Za-z_][\w.-]{2,}|\d[\d.,]*")
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        "the and for with that this from are was not but you can will have has its all into when then than also use"
        " used using should must only let make sure need needs now new our your them they there here what which been"
        " were",
    )
)
"""Words that two sentences share without saying the same."""
_SHARED: Final = 0.6
"""Share of a sentence's words that one sentence of the window must have for it to stand there in other words. Set by
hand: it was held against no judged pairs.
"""


@dataclass(frozen=True, slots=True)
class LostClass:
    """A class of findings at a compaction; `held` and the rest count different ones.

    verbatim, reworded, gone: how many stand in the new window word for word, in other words, and not at all. lost:
    those of the last sort with the turn that said them last, the latest first.
    """

    kind: FindingClass
    held: int
    verbatim: int
    reworded: int
    gone: int
    lost: tuple[SessionFinding, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """A compaction by what it kept. boundary: the number of its turn. dropped: numbers of the turns that left the
    window.

    before, after: tokens of the window as the file counts, None where it does not. tokens: of what was dropped.
    opening: of what the new window began with, both estimated. sealed: whether the summary cannot be read by anybody
    but the provider, so that what it says is unknown.
    """

    boundary: int
    trigger: str
    before: int | None
    after: int | None
    tokens: int
    opening: int
    dropped: tuple[int, ...]
    classes: tuple[LostClass, ...]
    sealed: bool = False


def losses(session: Session) -> tuple[Loss, ...]:
    """Return what each compaction of the main conversation threw away, in order."""
    return tuple(loss_at(session, boundary) for boundary in session.boundaries)


def loss_at(session: Session, boundary: Turn) -> Loss:
    """Return what one compaction threw away; see `Loss`."""
    dropped, opening = dropped_at(session, boundary), opening_after(session, boundary)
    mark = boundary.boundary
    return Loss(
        boundary.number,
        mark.trigger if mark else "",
        mark.before if mark else None,
        mark.after if mark else None,
        tokens_dropped(session, boundary),
        tokens_of_all(session, opening),
        tuple(turn.number for turn in dropped),
        classes_of(dropped, "\n".join(turn.words for turn in opening)),
        mark.sealed if mark else False,
    )


@dataclass(frozen=True, slots=True)
class LossReason:
    """What became of something at a compaction. what: as it stood there. kind: the class of the finding, "words" for
    what is none.

    fate: verbatim, reworded or gone. nearest: the sentence of the new window that shares most of its words, "" where
    none shares any; shared: which share, from 0 to 1. said: numbers of the turns that held it before.
    """

    what: str
    kind: str
    boundary: int
    fate: str
    nearest: str
    shared: float
    said: tuple[int, ...]


def explain(session: Session, boundary: Turn, told: str) -> LossReason | None:
    """Return why something that stood in the window before a compaction is there after it or not: the finding of the
    dropped turns that says it or, best one that is gone, holds it, else the words themselves; None where no dropped
    turn holds them.
    """
    dropped, wanted = dropped_at(session, boundary), _plain(told)
    window = "\n".join(turn.words for turn in opening_after(session, boundary))
    sentences = [" ".join(one.split()) for one in sentences_of(window)]
    words = [frozenset(words_of(one)) for one in sentences]
    line = " ".join(window.split())
    every = [one for turn in dropped for one in findings_in(turn)]
    found = [one for one in every if one.text == told] or [one for one in every if wanted in _plain(one.text)]
    if found:
        fates = {one.text: fate_of(one, line, words) for one in found}
        chosen = next((one for one in reversed(found) if fates[one.text] == "gone"), found[-1])
        what, kind, fate = chosen.text, str(chosen.kind), fates[chosen.text]
        said = [one.turn for one in found if one.text == what]
    else:
        said = [turn.number for turn in dropped if wanted in _plain(session.text(turn) + turn.words)]
        what, kind, fate = " ".join(told.split()), "words", "verbatim" if wanted in _plain(line) else "gone"
    if not wanted or not said:
        return None
    own = frozenset(words_of(what))
    shared = [len(own & others) / len(own) if own else 0.0 for others in words]
    best = max(range(len(shared)), key=shared.__getitem__, default=None)
    near = best is not None and shared[best] > 0
    if kind == "words" and fate == "gone" and len(own) > 1 and max(shared, default=0.0) >= _SHARED:
        fate = "reworded"
    return LossReason(
        what,
        kind,
        boundary.number,
        fate,
        sentences[best] if best is not None and near else "",
        shared[best] if best is not None else 0.0,
        tuple(dict.fromkeys(said)),
    )


def _plain(told: str) -> str:
    """Return a text in small letters on one line."""
    return " ".join(told.lower().split())


def sentences_of(window: str) -> list[str]:
    """Return the sentences and lines of a window."""
    return re.split(r"(?<=[.!?])\s+|\n", window)


def classes_of(dropped: Sequence[Turn], window: str) -> tuple[LostClass, ...]:
    """Return what became of the findings in turns, given the text of the window that follows them."""
    latest: dict[tuple[FindingClass, str], SessionFinding] = {}
    for turn in dropped:
        for one in findings_in(turn):
            latest.pop((one.kind, one.text), None)
            latest[one.kind, one.text] = one
    plain = " ".join(window.split())
    words = [frozenset(words_of(sentence)) for sentence in sentences_of(window)]
    made = []
    for kind in FINDING_CLASSES:
        held = [one for one in latest.values() if one.kind == kind]
        fates = [(one, fate_of(one, plain, words)) for one in held]
        lost = [one for one, fate in fates if fate == "gone"]
        if held:
            count = Counter(fate for _, fate in fates)
            verbatim, reworded = count["verbatim"], count["reworded"]
            made.append(LostClass(kind, len(held), verbatim, reworded, count["gone"], tuple(reversed(lost))))
    return tuple(made)


def fate_of(one: SessionFinding, window: str, sentences: Sequence[frozenset[str]]) -> str:
    """verbatim, reworded or gone: whether a finding stands in a window, given as one line and as sets of words.

    A path is there in other words where its file's name is, a sentence or a command where most of its words are in one
    sentence, an error where its kind and most of its words are; a number or an id is there or it is not.
    """
    if stands_in(window, one.text):
        return "verbatim"
    if one.kind in ("number", "id"):
        return "gone"
    if one.kind == "path":
        name = one.text.rsplit("/", 1)[-1]
        return "reworded" if name != one.text and stands_in(window, name) else "gone"
    own = frozenset(words_of(one.text))
    if len(own) < 2:
        return "gone"
    best = max((len(own & others) / len(own) for others in sentences), default=0.0)
    return "reworded" if best >= _SHARED else "gone"


def words_of(told: str) -> list[str]:
    """Return the words of a text that say something, in small letters and without their endings in -s, -ed and -ing."""
    found = (word.lower().strip(".-") for word in _WORD.findall(told))
    return [re.sub(r"(?<=\w{3})(?:ing|ed|es|s)$", "", word) for word in found if word and word not in _COMMON]


def stands_in(window: str, told: str) -> bool:
    """Return whether a text stands in another and is not only a part of a longer word or number."""
    at = window.find(told) if told else -1
    while at >= 0:
        before, after = window[at - 1 : at], window[at + len(told) : at + len(told) + 1]
        if not (before.isalnum() and told[0].isalnum()) and not (after.isalnum() and told[-1].isalnum()):
            return True
        at = window.find(told, at + 1)
    return False
