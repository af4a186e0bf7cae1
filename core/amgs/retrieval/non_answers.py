"""Mark turns that cannot answer a question: that ask it themselves, say that the answer is not known, or only thank for
it.

An earlier question in memory shares more words with the question than any answer does, and so does "I don't know …":
without this each vain attempt would push the answer down by two places. What is not known is heard in a dozen
languages; general remarks and thanks in English alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from amgs.retrieval.asked_role import ASSISTANTS, USERS
from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import contributions
from amgs.retrieval.text_forms import TURN
from amgs.text.language_tables import table_of
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Block

Blocks = Callable[[Sequence[int]], Mapping[int, Block]]

_FEW = 3
"""Words of a sentence beside a question up to which it says nothing: "Hello there!"."""
_LONGEST = 400
"""Characters up to which a turn is checked; a longer one is taken to say something."""

_SPEAKER = re.compile(r"^[^\W\d_][\w.'’ -]{0,40}:\s+")
_SENTENCE = re.compile(r"[^.!?…。！？\n]*[^\W_][^.!?…。！？\n]*[.!?…。！？]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NOT = r"(?:do(?:es)?|did|have|has|had|am|are|is|was|were|can|could|wo|would|ca|'m|'ve)(?:n['’]?t|\s*not|\s+never)"
_IGNORANT = re.compile(
    rf"\b{_NOT}\s+(?:(?:yet|really|actually|quite|currently|even|ever|been|be|able\s+to|at\s+all|any|a|the)\s+)*"
    r"(?:know|knew|sure|certain|aware|familiar|recall|remember|tell|told|say|said|mention(?:ed)?|shared?|given?|gave"
    r"|find|found|see|seen|have|access|information|record|details?|answer|noted?|stored?|heard?|clue|idea)\b"
    r"|\bcannot\s+(?:know|say|tell|find|recall|remember|answer|be\s+sure)\b"
    r"|\bi(?:['’]m|\s+am)\s+(?:not|un)\s*(?:sure|certain|aware|able)\b|\bunable\s+to\b|\bnot\s+(?:sure|certain|known|clear|something\s+i|in\s+(?:my|our|any))\b"
    r"|\bno\s+(?:idea|clue|record|information|mention|details?|notes?|knowledge|data)\b|\b(?:unknown|unclear|unsure|uncertain)\b"
    r"|\byou(?:['’]ve|\s+have)?\s+never\s+(?:told|said|mentioned|shared|gave|given)\b|\bnothing\s+(?:about|on|in\s+my)\b"
    r"|\b(?:beats\s+me|who\s+knows|wish\s+i\s+knew|hard\s+to\s+say|could\s+be\s+anything|escapes\s+me|no\s+one\s+knows)\b"
    r"|\blet\s+me\s+(?:\w+\s+)?(?:check|look|see|find|think|search|ask)\b|\b(?:one|just\s+a|give\s+me\s+a)\s+(?:moment|second|minute)\b"
    r"|\b(?:have|need|want|going|like)\s+to\s+(?:check|look|find\s+out|search|ask|verify)\b"
    r"|\bi(?:['’]ll|['’]d|\s+will|\s+must|\s+should|\s+can)\s+(?:\w+\s+)?(?:check|look|find\s+out|search|ask|verify|get\s+back)\b"
    r"|\bplease\s+(?:tell|provide|specify|share|remind|clarify)\b|\bgood\s+question\b"
    r"|\bi\s+have\s+no\s+access\b|\b(?:information|details?|data|answer)\s+(?:is|are)(?:n['’]t|\s+not)\s+available\b",
    re.IGNORECASE,
)
_IGNORANT_ELSEWHERE = re.compile(
    "|".join(
        (
            r"\b(?:wei(?:ß|ss)(?!,)|wissen|kenne|erinnere|finde)\b[^.!?]{0,40}?\b(?:nicht|nichts|keine[rn]?)\b",
            r"\b(?:kann|können|habe?)\b[^.!?]{0,40}?\b(?:nicht|nichts|keine[rn]?)\b[^.!?]{0,20}"
            r"\b(?:sagen|angeben|beantworten|informationen?|angaben?)\b",
            r"\bkeine?\s+(?:ahnung|informationen?|angaben?)\b|\bnicht\s+(?:sicher|bekannt|gespeichert)\b|\bunbekannt\b",
            r"\bne\s+(?:le\s+)?(?:sais|connais|me\s+souviens)\b[^.!?]{0,30}?\b(?:pas|aucune?)\b",
            r"\b(?:ne\s+|n['’])(?:peux|suis|ai)\s+(?:pas|aucune?)\s+"
            r"(?:(?:vous\s+|te\s+|le\s+)?(?:dire|répondre)|sûre?|certaine?|(?:d['’])?informations?|idée)\b",
            r"\baucune\s+(?:idée|information)\b",
            r"\bno\s+(?:l[oa]\s+)?(?:sé|recuerdo|encuentro|conozco)\b|\bno\s+l[oa]\s+se\b|\bni\s+idea\b",
            r"\bno\s+puedo\s+(?:decir|responder)|\bno\s+tengo\s+(?:ni\s+)?(?:idea|información|datos)\b",
            r"\bno\s+estoy\s+segur[oa]\b",
            r"\bnão\s+(?:sei|(?:me\s+)?lembro|encontr\w+)\b",
            r"\bnão\s+posso\s+(?:dizer|responder)\b|\bnão\s+tenho\s+(?:ideia|informaç\w+)\b",
            r"\bnon\s+(?:l[oa]\s+)?(?:so|ricordo|saprei|ne\s+ho\s+idea)\b|\bnessuna\s+idea\b",
            r"\bnon\s+posso\s+(?:dire|rispondere)\b",
            r"\b(?:weet|weten)\b[^.!?]{0,20}?\bniet\b|\bgeen\s+idee\b",
            r"\b(?:vet|ved|husker|minns)\b[^.!?]{0,12}?\b(?:ikke|inte)\b",
            r"\b(?:aner\s+ikke|ingen\s+anelse|ingen\s+aning)\b|\bnie\s+(?:wiem|pamiętam|znam)\b",
            r"\bне\s+(?:знаю|помню|уверен\w*|могу\s+(?:сказать|ответить))\b|\bпонятия\s+не\s+имею\b",
            r"(?:分|わ)かりません|知りません|覚えていません",
            r"不知道|不清楚|不记得|不確定|不确定|没有(?:相关)?信息",
            r"모르겠|몰라요",
        )
    ),
    re.IGNORECASE,
)
"""Says in other languages that one does not know. That one cannot, has not or is not something is a fact."""
"""The same in German, French, Spanish, Portuguese, Italian, Dutch, the languages of Scandinavia, Polish, Russian,
Japanese, Chinese and Korean.
"""
_GENERAL = re.compile(
    r"\b(?:usually|typically|generally|commonly|in\s+general|normally|differs?|var(?:y|ies)|depend(?:s|ing)?)\b"
    r"|\bthere\s+(?:are|is)\s+(?:several|many|various|different|some|lots|plenty|a\s+(?:number|lot|few|range|variety))\b"
    r"|\b(?:it|that)\s+(?:could|might|may)\s+be\b|\b(?:most|some|many)\s+(?:people|of\s+them)\b",
    re.IGNORECASE,
)
"""How an assistant speaks in general terms when it does not know the case that is meant."""


_POLITE = frozenset(
    re.findall(
        r"\S+",
        "absolutely awesome cool glad good great happy hello help helpful hi interesting lovely nice oh ok okay "
        "perfect please pleasure sounds sure thank thanks welcome wonderful wow",
    )
)
"""Words of thanks, greeting and assent: a turn that adds nothing else to the question's words answers nothing."""
_THANKS = re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(_POLITE))})(?![^\W_])", re.IGNORECASE)
_SAYS_LITTLE = _POLITE | frozenset(COMMON_WORDS) - {"no", "not", "never", "yes"}


def mark_non_answers(evidence: Features, asked: str, blocks: Blocks, most: int | None = None) -> Features:
    """Fill the feature `no_answer`, for turns of a dialogue and for notes whose metadata gives a speaker's role.

    Does nothing where the question asks what was asked, or what is not known, and where all candidates or none would be
    marked. blocks: reads blocks by number. most: check this many of the likeliest first, and the rest only where fewer
    than a third of those may answer; None: check all.
    """
    if table_of(asked).asking.search(asked):
        return evidence
    column = np.zeros(evidence.numbers.size)
    likely = np.argsort(-contributions(evidence).sum(axis=1), kind="stable")
    for rows in (likely[:most], likely[likely.size if most is None else most :]):
        read = blocks(evidence.numbers[rows].tolist())
        for row in rows.tolist():
            block = read[int(evidence.numbers[row])]
            role = str(block.meta.get("role") or block.meta.get("speaker") or "").lower()
            if evidence.form[row] != TURN and role not in USERS | ASSISTANTS:
                continue
            text = _SPEAKER.sub("", block.content, count=1)
            column[row] = len(text) <= _LONGEST and not may_answer(text, asked, of_assistant=role in ASSISTANTS)
        if 3 * np.count_nonzero(column[rows]) <= 2 * rows.size:
            break
    if not column.any() or column.all():
        return evidence
    values = evidence.values.copy()
    values[:, list(FEATURES).index("no_answer")] = column
    return replace(evidence, values=values)


def may_answer(text: str, asked: str, *, of_assistant: bool) -> bool:
    """Return whether a text may answer the question: it does not only ask, thank or say that it does not know, or it
    gives a name or a number that is not in the question. of_assistant: general remarks are no answer either.
    """
    question_words = _question_words(asked)
    if not (
        is_question(text)
        or _IGNORANT.search(text)
        or _IGNORANT_ELSEWHERE.search(text)
        or (of_assistant and _GENERAL.search(text))
        or (_THANKS.search(text) and {_bare(word) for word in _WORD.findall(text)} <= question_words | _SAYS_LITTLE)
    ):
        return True
    return any(
        (any(c.isdigit() for c in word) or (index and word[0].isupper())) and _bare(word) not in question_words
        for sentence in _SENTENCE.findall(_IGNORANT_ELSEWHERE.sub("", text))
        for index, word in enumerate(_WORD.findall(sentence))
    )


def is_question(text: str) -> bool:
    """Return whether a text is a question and little else: no other sentence has more than _FEW words."""
    text = text.replace("？", "?")
    statements = [sentence for sentence in _SENTENCE.findall(text) if "?" not in sentence]
    return "?" in text and all(len(_WORD.findall(statement)) <= _FEW for statement in statements)


def _bare(word: str) -> str:
    """Return a word in lower case, up to its apostrophe; "" for "I", "I'm" and the like, which add nothing."""
    bare = word.lower().replace("’", "'").partition("'")[0]
    return "" if bare == "i" else bare


@lru_cache(maxsize=8)
def _question_words(asked: str) -> frozenset[str]:
    """Return the bare words of a question, and ""."""
    return frozenset(("", *map(_bare, _WORD.findall(asked))))
