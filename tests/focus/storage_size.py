"""What a lifetime takes on the disk, computed: the specification's example of ten years, and the same for this program.

MegaContext, "Long-term storage example". Its leaves are vectors, as wide as the gists above them; the leaves here are
token numbers of four bytes, and only the gists are vectors. The manual's table is made by this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TEN_YEARS = 10 * 365 * 24 * 3600  # seconds
PER_SECOND = 500  # leaves
ARITY = 32


@dataclass(frozen=True, slots=True)
class StoredShare:
    """How much of a tree is kept and how well. leaves: share of them; leaf, node: bytes a value; packed: what entropy
    coding leaves of it (an assumption of the specification).
    """

    name: str
    leaf: float
    node: float
    leaves: float = 1.0
    internal: bool = True
    packed: float = 1.0


SCENARIOS: tuple[StoredShare, ...] = (
    StoredShare("raw leaves alone", 2, 2, internal=False),
    StoredShare("the whole tree", 2, 2),
    StoredShare("the whole tree, gists of 8 bits", 1, 1),
    StoredShare("1 % of the leaves, gists of 8 bits", 1, 1, leaves=0.01),
    StoredShare("the same, entropy-coded to a half", 1, 1, leaves=0.01, packed=0.5),
    StoredShare("0.5 % of the leaves, gists of 4 bits, entropy-coded", 1, 0.5, leaves=0.005, packed=0.5),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is stored: leaves of so many values each, gists of `width` values; token_bytes: of a leaf that is a token
    number, whose size no precision changes, 0 where leaves are vectors.
    """

    width: int
    token_bytes: int = 0
    leaves: int = TEN_YEARS * PER_SECOND

    def internal_nodes(self) -> float:
        """Gists over the leaves: 1/32 + 1/32² + … of them."""
        return self.leaves / (ARITY - 1)

    def bytes(self, kept: StoredShare) -> float:
        """The bytes of one scenario. Token numbers are kept as they are but for the share that is dropped."""
        leaf = self.token_bytes or self.width * kept.leaf * kept.packed
        total = self.leaves * kept.leaves * leaf
        if kept.internal:
            total += self.internal_nodes() * self.width * kept.node * kept.packed
        return total


def folder_bytes(tokens: int, width: int) -> int:
    """Exactly what the .ctx files of a lifetime take: 64 bytes a file, whole blocks of tokens, gists in fp16."""
    blocks = tokens // ARITY
    total = 64 + blocks * ARITY * 4
    while blocks:
        total += 64 + blocks * width * 2
        blocks //= ARITY
    return total


def table(columns: Sequence[tuple[str, Sizes]]) -> str:
    """The scenarios as a table in markdown."""
    head = ["kept", *(name for name, _ in columns)]
    rows = [[kept.name, *(said(sizes.bytes(kept)) for _, sizes in columns)] for kept in SCENARIOS]
    lines = [head, ["---", *("---:" for _ in columns)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def said(count: float) -> str:
    """Bytes in the decimal units of disks, three digits."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB"
