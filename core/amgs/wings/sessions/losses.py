"""What a compaction lost: for each class of findings, how many remain verbatim, in other words, or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import estimate_dropped_tokens, find_dropped_turns, opening_after, tokens_of_all
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
"""Words that sentences may share without similar meaning."""
_SHARED: Final = 0.6
"""Share of a sentence's words that a sentence of the window must contain for it to count as reworded. Chosen by hand,
not tested on judged pairs.
"""


@dataclass(frozen=True, slots=True)
class LostClass:
    """A class of findings at a compaction, counted without duplicates.

    verbatim, reworded, gone: how many of `held` are in the new window verbatim, in other words, and not at all. lost:
    those that are gone, with the turn that last contained them, latest first.
    """

    kind: FindingClass
    held: int
    verbatim: int
    reworded: int
    gone: int
    lost: tuple[SessionFinding, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """A compaction and what it dropped. boundary: its turn number. dropped: numbers of the dropped turns.

    before, after: tokens of the window as the file reports, else None. tokens: dropped; opening: at the start of the
    new window; both estimated. sealed: the summary is encrypted by the provider, so its content is unknown.
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
    """Return what each compaction of the main conversation dropped, in order."""
    return tuple(loss_at(session, boundary) for boundary in session.boundaries)


def loss_at(session: Session, boundary: Turn) -> Loss:
    """Return what one compaction dropped; see `Loss`."""
    dropped, opening = find_dropped_turns(session, boundary), opening_after(session, boundary)
    mark = boundary.boundary
    return Loss(
        boundary.number,
        mark.trigger if mark else "",
        mark.before if mark else None,
        mark.after if mark else None,
        estimate_dropped_tokens(session, boundary),
        tokens_of_all(session, opening),
        tuple(turn.number for turn in dropped),
        classes_of(dropped, "\n".join(turn.words for turn in opening)),
        mark.sealed if mark else False,
    )


@dataclass(frozen=True, slots=True)
class LossReason:
    """What happened to a text at a compaction.

    what: the text. kind: class of the finding, or `words` for other texts. fate: verbatim, reworded or gone. nearest:
    sentence of the new window with most words in common, "" without any; shared: their share. said: numbers of the
    turns that contained it.
    """

    what: str
    kind: str
    boundary: int
    fate: str
    nearest: str
    shared: float
    said: tuple[int, ...]


def explain(session: Session, boundary: Turn, text: str) -> LossReason | None:
    """Return what happened to a text at a compaction; None if no dropped turn contains it.

    It is matched to a finding of the dropped turns that equals it, else contains it, preferably one that is gone; else
    treated as words.
    """
    dropped, wanted = find_dropped_turns(session, boundary), _plain(text)
    window = "\n".join(turn.words for turn in opening_after(session, boundary))
    sentences = [" ".join(sentence.split()) for sentence in sentences_of(window)]
    words = [frozenset(words_of(sentence)) for sentence in sentences]
    line = " ".join(window.split())
    every = [finding for turn in dropped for finding in findings_in(turn)]
    findings = [finding for finding in every if finding.text == text] or [
        finding for finding in every if wanted in _plain(finding.text)
    ]
    if findings:
        fates = {finding.text: fate_of(finding, line, words) for finding in findings}
        chosen = next((finding for finding in reversed(findings) if fates[finding.text] == "gone"), findings[-1])
        what, kind, fate = chosen.text, str(chosen.kind), fates[chosen.text]
        numbers = [finding.turn for finding in findings if finding.text == what]
    else:
        numbers = [turn.number for turn in dropped if wanted in _plain(session.text(turn) + turn.words)]
        what, kind, fate = " ".join(text.split()), "words", "verbatim" if wanted in _plain(line) else "gone"
    if not wanted or not numbers:
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
        tuple(dict.fromkeys(numbers)),
    )


def _plain(text: str) -> str:
    """Return a text in lower case on one line."""
    return " ".join(text.lower().split())


def sentences_of(window: str) -> list[str]:
    """Return the sentences and lines of a window."""
    return re.split(r"(?<=[.!?])\s+|\n", window)


def classes_of(dropped: Sequence[Turn], window: str) -> tuple[LostClass, ...]:
    """Return what happened to the findings in dropped turns, given the text of the new window."""
    latest: dict[tuple[FindingClass, str], SessionFinding] = {}
    for turn in dropped:
        for finding in findings_in(turn):
            latest.pop((finding.kind, finding.text), None)
            latest[finding.kind, finding.text] = finding
    plain = " ".join(window.split())
    words = [frozenset(words_of(sentence)) for sentence in sentences_of(window)]
    classes = []
    for kind in FINDING_CLASSES:
        findings = [finding for finding in latest.values() if finding.kind == kind]
        fates = [(finding, fate_of(finding, plain, words)) for finding in findings]
        lost = [finding for finding, fate in fates if fate == "gone"]
        if findings:
            count = Counter(fate for _, fate in fates)
            verbatim, reworded = count["verbatim"], count["reworded"]
            classes.append(LostClass(kind, len(findings), verbatim, reworded, count["gone"], tuple(reversed(lost))))
    return tuple(classes)


def fate_of(finding: SessionFinding, window: str, sentences: Sequence[frozenset[str]]) -> str:
    """Return whether a finding is verbatim, reworded or gone in a window, given as one line and as the word sets of its
    sentences.

    A path counts as reworded if its file name remains; sentences, commands and errors if one sentence contains most of
    their words. Numbers and ids cannot be reworded.
    """
    if contains_whole(window, finding.text):
        return "verbatim"
    if finding.kind in ("number", "id"):
        return "gone"
    if finding.kind == "path":
        name = finding.text.rsplit("/", 1)[-1]
        return "reworded" if name != finding.text and contains_whole(window, name) else "gone"
    own = frozenset(words_of(finding.text))
    if len(own) < 2:
        return "gone"
    best = max((len(own & others) / len(own) for others in sentences), default=0.0)
    return "reworded" if best >= _SHARED else "gone"


def words_of(text: str) -> list[str]:
    """Return the significant words of a text in lower case, without the endings -s, -ed and -ing."""
    words = (word.lower().strip(".-") for word in _WORD.findall(text))
    return [re.sub(r"(?<=\w{3})(?:ing|ed|es|s)$", "", word) for word in words if word and word not in _COMMON]


def contains_whole(window: str, text: str) -> bool:
    """Return whether a window contains a text, not only as part of a longer word or number."""
    at = window.find(text) if text else -1
    while at >= 0:
        before, after = window[at - 1 : at], window[at + len(text) : at + len(text) + 1]
        if not (before.isalnum() and text[0].isalnum()) and not (after.isalnum() and text[-1].isalnum()):
            return True
        at = window.find(text, at + 1)
    return False
