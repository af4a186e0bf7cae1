"""What speaks for a hit, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PARTS: Mapping[str, str] = {
    "words": "the words of the question",
    "coverage": "how much of the question it holds",
    "window": "the words of it and its neighbours together",
    "neighbour_words": "the words of its neighbours",
    "meaning": "its meaning",
    "subject": "its meaning, without the people asked about",
    "asked_of": "it was said by somebody the question names",
    "in_reply": "somebody the question names said it in reply",
    "episode_words": "the words of its conversation",
    "document_meaning": "the meaning of its document",
    "asking": "how much of it is questions",
    "after_question": "it follows a question",
    "turn_length": "its length among turns",
    "part_length": "its length among parts of documents",
    "flow": "links from other good matches",
    "shared_names": "names that it shares with the best hits",
}
"""What each feature of `amgs.retrieval.features` is called here."""

_NOTHING = 0.05
"""What adds less than this to the linear score, whose scale is 2.2, changes a similarity by half a hundredth."""


def part_told(name: str) -> str:
    """What a feature is called; one that has no words here, as of a server of a newer version, keeps its name."""
    return PARTS.get(name, name)


def evidence_told(evidence: Sequence[tuple[str, float]]) -> str:
    """The parts that count, the strongest first, and the sum of the others; empty where there is no evidence."""
    if not any(value for _, value in evidence):
        return ""
    told = sorted((part for part in evidence if abs(part[1]) >= _NOTHING), key=lambda part: -abs(part[1]))
    said = [f"{part_told(name)} {value:+.2f}" for name, value in told]
    rest = len(evidence) - len(told)
    if rest:
        left = round(sum(value for _, value in evidence) - sum(value for _, value in told), 2)
        others = "the other part" if rest == 1 else f"the other {rest} parts together"
        said.append(f"{others} {left:+.2f}" if left else f"{others} nothing")
    return "what speaks for it: " + ", ".join(said)
