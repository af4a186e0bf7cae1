"""What judged readings of packs taught, for explanation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackWeight:
    """How much something that is known before a reading speaks for its being useful, in log odds for each unit of it,
    with its 95 % interval from low to high. name: "constant" for what holds of every reading.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PackUtility:
    """What outcomes say of a pack. judged: readings that count. offset: its own part, in log odds. utility: the log
    odds that a reading like those that were judged is useful; bound: the lower end of their 95 % interval. A pack is
    thought useful where that is above 0.
    """

    name: str
    judged: int
    offset: float
    utility: float
    bound: float


@dataclass(frozen=True, slots=True)
class PackCredit:
    """A reading of a pack, by its number in the log, and what it is credited with: nats a token by which the answer is
    less likely without it; below 0 where it is likelier. helped: whether that is more than chance may give.
    """

    use: int
    name: str
    version: int
    credit: float
    helped: bool


@dataclass(frozen=True, slots=True)
class PackCredits:
    """What packs that were read together contributed to an answer, as a language model reads it. query: what they were
    read for. reader: the model's name. operation: of the journal.
    """

    query: str
    reader: str
    credits: tuple[PackCredit, ...]
    operation: int


@dataclass(frozen=True, slots=True)
class PackWeights:
    """What outcomes of readings taught. better: whether it foretells the last third of them better than no learning,
    by the lower end of its gain and over enough of them; because: which of that is so. outcomes: readings that count,
    judged or credited; left_out: verdicts that all packs of a session shared. weights: of the constant and of what is
    known before a reading. spread: the standard deviation of the packs' offsets. gain: nats a
    reading, with its 95 % interval from low to high; None where the last third has less than two outcomes.
    """

    better: bool
    because: str
    outcomes: int
    left_out: int
    weights: tuple[PackWeight, ...]
    spread: float
    gain: float | None
    low: float | None
    high: float | None
    packs: tuple[PackUtility, ...]
