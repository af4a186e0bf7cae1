"""How often each way to find a mention is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from amgs.types.mentions import MentionType

BY_SHAPE: Mapping[MentionType, float] = {
    "url": 0.99,
    "email": 0.99,
    "command": 0.95,
    "path": 0.9,
    "identifier": 0.9,
    "version": 0.9,
    "money": 0.97,
    "percent": 0.97,
    "schedule": 0.9,
    "time": 0.9,
    "quantity": 0.9,
}

NameEvidence = Literal["speaker", "agreed", "few", "torn"]
"""What speaks for the type of a name: who bears it speaks here; three cues or more, nearly all of them; fewer; or cues
that do not agree.
"""
BY_EVIDENCE: Mapping[NameEvidence, float] = {"speaker": 0.95, "agreed": 0.93, "few": 0.6, "torn": 0.25}
BY_NAME: Mapping[tuple[MentionType, NameEvidence], float] = {
    ("group", "few"): 0.9,
    ("work", "few"): 0.8,
    ("place", "few"): 0.7,
    ("person", "few"): 0.5,
    ("organisation", "few"): 0.4,
    ("product", "few"): 0.3,
    ("organisation", "agreed"): 0.75,
}
"""Of a type where it differs. Both are counted, and rounded, on 210 names of chats and meetings that were drawn at
random and read.
"""
RELATIONSHIP: Mapping[str, float] = {
    "I": 0.95,
    "you": 0.9,
    "we": 0.6,
    "he or she": 0.9,
    "they": 0.7,
    "named": 0.9,
}
"""Of a person who is somebody's, by what tells whose; this times how sure it is who is meant by that."""
OBJECT: Mapping[str, float] = {
    "I": 0.7,
    "you": 0.6,
    "we": 0.4,
    "he or she": 0.7,
    "they": 0.4,
    "named": 0.7,
}
"""Of anything else: every third time it is nothing that can be spoken of again, as in "my understanding". Counted, and
rounded, on 110 that were read.
"""
CONCEPT = 0.8
"""On 25 that were read."""
