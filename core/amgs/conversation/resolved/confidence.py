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
BY_EVIDENCE: Mapping[NameEvidence, float] = {"speaker": 0.95, "agreed": 0.9, "few": 0.6, "torn": 0.5}
BY_NAME: Mapping[tuple[MentionType, NameEvidence], float] = {}
BY_OWNER: Mapping[str, float] = {
    "I": 0.9,
    "you": 0.7,
    "we": 0.5,
    "he or she": 0.9,
    "they": 0.6,
    "named": 0.9,
}
CONCEPT = 0.8
