"""How a sentence is put together, as spaCy parses it: its verbs, what its particles govern, its dependent clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amgs.text.spacy_entities import missing_model, opened

_CLAUSES = frozenset({"advcl", "acl", "xcomp", "relcl", "ccomp"})
_LENGTH = 8


def clause_features(texts: Sequence[str]) -> list[frozenset[str]]:
    """The features of each sentence by name. Raises ModelError where the small English model is missing."""
    try:
        pipeline = opened("", ["ner"])
    except (ImportError, OSError, ValueError, AttributeError) as error:
        raise missing_model("", error) from error
    return [_features(document) for document in pipeline.pipe(texts, batch_size=64)]


def _features(document: Any) -> frozenset[str]:
    found = {f"length:{min(len(document) // _LENGTH, _LENGTH)}"}
    for word in document:
        lemma, dep = word.lemma_.lower(), word.dep_
        found.add(f"lemma:{lemma}")
        if word.pos_ in ("VERB", "AUX"):
            found |= {f"verb:{lemma}:{dep}", f"verb:{lemma}:{word.tag_}"}
        elif word.pos_ in ("ADP", "SCONJ", "CCONJ", "PART"):
            found |= {f"of:{lemma}:{dep}", f"of:{lemma}:{dep}:{word.head.pos_}:{word.head.dep_}"}
            found |= {f"to:{lemma}:{child.pos_}:{child.tag_}" for child in word.children}
        if dep in _CLAUSES:
            marks = [one.lemma_.lower() for one in word.children if one.dep_ in ("mark", "aux", "advmod")]
            found |= {f"clause:{dep}:{word.tag_}", f"clause:{dep}:{lemma}"}
            found.add(f"clause:{dep}:{word.tag_}:{'|'.join(marks[:2])}")
    return frozenset(found)
