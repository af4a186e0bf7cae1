"""Who is spoken to: by a call to them, or by who spoke before and who speaks next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Kind
from amgs.conversation.coreference.words import ENDEARMENTS, GREETINGS, GROUP_CALLS, word_set

_ENDS = word_set(", . ! ? ; : - -- … ...")
_GENERIC = frozenset({"know", "see"})


class CorefCue(StrEnum):
    """By what somebody is held to be meant."""

    SPEAKER = "speaker"
    QUOTED = "inside quotation marks"
    ONLY_TWO = "the only other speaker"
    CALLED = "called by name"
    BETWEEN = "spoke before and speaks next"
    BEFORE = "spoke before"
    NEXT = "speaks next"
    ASKED = "answers the question"
    GROUP = "a group is spoken to"
    WITH_ADDRESSEE = "speaker and who is spoken to"
    JOINED = "joined by and"
    NAMED = "named"
    NICKNAME = "a short form of the name"
    NEW_NAME = "a name not met before"
    RELATIVE = "somebody's relative"
    PREDICATE = "said to be"
    NAMED_BESIDE = "named beside it"
    ENDEARMENT = "an endearment for who is spoken to"
    ANTECEDENT = "named before"
    SAME_WORDS = "described before in the same words"


@dataclass(frozen=True, slots=True)
class Addressee:
    """names: who is spoken to, nobody where nothing tells; cue: by what."""

    names: tuple[str, ...]
    cue: CorefCue


def is_call(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether a mention calls somebody: set off by commas at an end of its sentence, or after a greeting."""
    if mention.word < 0 or mention.kind not in (Kind.NAME, Kind.NOUN, Kind.YOU):
        return False
    inside = passage.words_of(mention.start, mention.end, mention.turn)
    before = _word(passage, inside[0] - 1, mention)
    after = _word(passage, inside[-1] + 1, mention)
    if before == "on" and _word(passage, inside[0] - 2, mention) == "come":
        before = "come"
    if after and after not in _ENDS and not (before in GREETINGS and after in GREETINGS):
        return before in GREETINGS and before not in ("and", "but", "so", "god", "what", "look") and after in (
            "you", "what", "how", "where", "can", "i", "do", "did", "are", "it", "this", "that", "we", "would",
        )  # fmt: skip
    if not before:
        return bool(after)
    return before in (",", "!", "?", "-", "--") or before in GREETINGS


def addressees(passage: CorefPassage, called: Sequence[tuple[int, str]], turn: int, at: int) -> Addressee:
    """Who is spoken to at a character of a turn. called: calls of this turn, (character, whom)."""
    speaker = passage.turns[turn].speaker
    session = passage.session_of(turn)
    earlier = [passage.turns[i].speaker for i in session if i < turn]
    later = [passage.turns[i].speaker for i in session if i > turn]
    if called:
        before = [name for start, name in called if start <= at]
        return Addressee((before[-1] if before else called[0][1],), CorefCue.CALLED)
    others = tuple(dict.fromkeys(name for name in (*earlier, *later) if name not in ("", speaker)))
    if len(others) == 1:
        return Addressee(others, CorefCue.ONLY_TWO)
    last = next((name for name in reversed(earlier) if name not in ("", speaker)), "")
    following = next((name for name in later if name not in ("", speaker)), "")
    if last and last == following:
        return Addressee((last,), CorefCue.BETWEEN)
    if following and (not last or (_asks(passage, turn, at))):
        return Addressee((following,), CorefCue.ASKED if last else CorefCue.NEXT)
    return Addressee((last,), CorefCue.BEFORE) if last else Addressee((), CorefCue.BEFORE)


def is_group_call(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether "you" means several: "you guys", "you two"."""
    after = _word(passage, mention.word + 1, mention)
    return after in GROUP_CALLS or mention.text.lower() in ("yourselves", "y'all")


def is_endearment(mention: CorefMention) -> bool:
    """Whether a noun is one by which people are called: "honey", "pal"."""
    return mention.text.split()[-1].lower() in ENDEARMENTS


def is_filler(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether "you" stands in "you know" or "you see", said to nobody in particular."""
    return _word(passage, mention.word + 1, mention) in _GENERIC


def _asks(passage: CorefPassage, turn: int, at: int) -> bool:
    """Whether the sentence around a character ends with a question mark."""
    words = [passage.words[i] for i in passage.turns[turn].words]
    here = next((w.sentence for w in words if w.end > at), None)
    return any(w.text.endswith("?") for w in words if w.sentence == here)


def _word(passage: CorefPassage, at: int, mention: CorefMention) -> str:
    words = passage.turns[mention.turn].words
    return passage.words[at].text.lower() if words and words[0] <= at <= words[-1] else ""
