"""Tenants of very different sizes on shards: a simulation of how uneven these get, and what placement can do about it.

Sizes and queries follow Zipf's law. Everything is a pure function of its arguments; chance comes in as a generator.

The subject `skew`: the simulation of tenants on shards, for laws from uniform to steep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup

Shards = NDArray[np.int64]
"""(t,) the shard of each tenant."""

SECONDS = 600
"""How long queries arrive."""


@dataclass(frozen=True, eq=False)
class Tenants:
    """t tenants. bytes: (t,) what each keeps. queries: (t,) how many it asks a second, on average."""

    bytes: NDArray[np.float64]
    queries: NDArray[np.float64]

    @classmethod
    def drawn(
        cls,
        count: int,
        sizes: float,
        queries: float,
        chance: np.random.Generator,
        *,
        total_bytes: float = 1e12,
        total_queries: float = 2000.0,
    ) -> Tenants:
        """Tenants whose sizes and queries fall with these exponents of Zipf's law, 0 for uniform; who asks most is
        not who keeps most: the two orders are drawn apart.
        """
        return cls(
            chance.permutation(zipf(count, sizes)) * total_bytes,
            chance.permutation(zipf(count, queries)) * total_queries,
        )


@dataclass(frozen=True, slots=True)
class Evenness:
    """What a placement gives. bytes, queries: of the fullest shard, as a multiple of the mean. p99: of the queries in
    one second at one shard, as a multiple of the mean. moved: share of the bytes that had to be moved for it.
    """

    bytes: float
    queries: float
    p99: float
    moved: float


def zipf(count: int, exponent: float) -> NDArray[np.float64]:
    """(count,) falling shares that sum to 1: the r-th is proportional to r to the power of minus the exponent."""
    shares = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    return np.asarray(shares / shares.sum())


def loads(values: NDArray[np.float64], shards: Shards, count: int) -> NDArray[np.float64]:
    """(count,) the sum of the tenants' values at each shard."""
    return np.bincount(shards, weights=values, minlength=count).astype(np.float64)


# --- placements -------------------------------------------------------------------------------------------


def at_random(tenants: Tenants, count: int, chance: np.random.Generator) -> Shards:
    """Each tenant anywhere: the control."""
    return np.asarray(chance.integers(0, count, size=tenants.bytes.size), dtype=np.int64)


def by_hash(tenants: Tenants, count: int, _: np.random.Generator | None = None) -> Shards:
    """By the highest hash of tenant and shard (rendezvous hashing): no table is kept, and a shard that is added takes
    tenants from all others and moves nothing between these (Thaler and Ravishankar 1998).
    """
    scores = np.stack([_hashes(tenants.bytes.size, shard) for shard in range(count)])
    return np.asarray(scores.argmax(axis=0), dtype=np.int64)


def by_modulo(tenants: Tenants, count: int, _: np.random.Generator | None = None) -> Shards:
    """By the hash of the tenant modulo the number of shards."""
    return np.asarray(_hashes(tenants.bytes.size, -1) % np.uint64(count), dtype=np.int64)


def by_size(tenants: Tenants, count: int, _: np.random.Generator | None = None) -> Shards:
    """The largest first, each where the fewest bytes are (Graham 1969); it must know all sizes beforehand."""
    return _greedily(tenants.bytes, np.argsort(-tenants.bytes, kind="stable"), count)


def by_queries(tenants: Tenants, count: int, _: np.random.Generator | None = None) -> Shards:
    """The busiest first, each where the fewest queries are; it must know all loads beforehand."""
    return _greedily(tenants.queries, np.argsort(-tenants.queries, kind="stable"), count)


def by_two_choices(tenants: Tenants, count: int, chance: np.random.Generator) -> Shards:
    """As they come, each to that of two random shards where fewer bytes are (Mitzenmacher 2001)."""
    held = np.zeros(count)
    shards = np.zeros(tenants.bytes.size, dtype=np.int64)
    for tenant in chance.permutation(tenants.bytes.size):
        first, second = chance.integers(0, count, size=2)
        shards[tenant] = first if held[first] <= held[second] else second
        held[shards[tenant]] += tenants.bytes[tenant]
    return shards


def relieved(tenants: Tenants, shards: Shards, count: int, *, most: float = 1.2) -> Shards:
    """Tenants moved from the busiest shard to the idlest, until none has over `most` times the mean of the queries or
    no move helps: each time the tenant with the fewest bytes a query among those that leave both better off.
    """
    moved, queries = shards.copy(), loads(tenants.queries, shards, count)
    limit = most * queries.mean()
    while queries.max() > limit:
        busiest, idlest = int(queries.argmax()), int(queries.argmin())
        held = np.flatnonzero(moved == busiest)
        fits = held[queries[idlest] + tenants.queries[held] < queries[busiest]]
        wanted = fits[tenants.queries[fits] >= min(queries[busiest] - limit, tenants.queries[fits].max(initial=0)) / 8]
        if not wanted.size:
            break
        cost = tenants.bytes[wanted] / np.maximum(tenants.queries[wanted], 1e-12)
        chosen = int(wanted[cost.argmin()])
        moved[chosen] = idlest
        queries[busiest] -= tenants.queries[chosen]
        queries[idlest] += tenants.queries[chosen]
    return moved


def _greedily(values: NDArray[np.float64], order: NDArray[np.int64], count: int) -> Shards:
    held = np.zeros(count)
    shards = np.zeros(values.size, dtype=np.int64)
    for tenant in order:
        shards[tenant] = held.argmin()
        held[shards[tenant]] += values[tenant]
    return shards


def _hashes(tenants: int, shard: int) -> NDArray[np.uint64]:
    """(t,) a hash of each tenant with a shard: the mixer of splitmix64 (Steele, Lea and Flood 2014)."""
    mixed = np.arange(1, tenants + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64((shard + 2) * 0xD1342543DE82EF95 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed


# --- what they give ---------------------------------------------------------------------------------------

PLACEMENTS: Mapping[str, Callable[[Tenants, int, np.random.Generator], Shards]] = {
    "random (control)": at_random,
    "hash": by_hash,
    "two choices, by bytes": by_two_choices,
    "largest first": by_size,
    "busiest first": by_queries,
}


def evenness(
    tenants: Tenants, shards: Shards, count: int, chance: np.random.Generator, *, before: Shards | None = None
) -> Evenness:
    """How even a placement is. before: where the tenants were, for the share that moved."""
    kept, asked = loads(tenants.bytes, shards, count), loads(tenants.queries, shards, count)
    arrived = chance.poisson(asked, size=(SECONDS, count))
    moved = 0.0 if before is None else float(tenants.bytes[before != shards].sum() / tenants.bytes.sum())
    return Evenness(
        float(kept.max() / kept.mean()),
        float(asked.max() / asked.mean()),
        float(np.quantile(arrived, 0.99) / asked.mean()),
        moved,
    )


def spread(tenants: Tenants, copies: int) -> Tenants:
    """The same where the queries of each tenant that asks more than the mean shard could bear go to as many copies of
    what it keeps: search nodes hold no truth, and any of them can read a data set.
    """
    hot = tenants.queries > np.quantile(tenants.queries, 0.999)
    repeats = np.where(hot, copies, 1)
    return Tenants(np.repeat(tenants.bytes, repeats), np.repeat(tenants.queries / repeats, repeats))


def compared(count: int, tenants: int, sizes: float, queries: float, seed: int) -> dict[str, Evenness]:
    """Every placement for the same tenants on `count` shards, then that by hash with its hot tenants moved, and with
    the busiest thousandth read from four copies each.
    """
    given = Tenants.drawn(tenants, sizes, queries, np.random.default_rng(seed))
    found: dict[str, Evenness] = {}
    for name, place in PLACEMENTS.items():
        chance = np.random.default_rng([seed, 1])
        found[name] = evenness(given, place(given, count, chance), count, chance)
    hashed = by_hash(given, count)
    chance = np.random.default_rng([seed, 2])
    found["hash, hot ones moved"] = evenness(given, relieved(given, hashed, count), count, chance, before=hashed)
    copied = spread(given, 4)
    placed = by_hash(copied, count)
    found["hash, hot ones in 4 copies"] = evenness(copied, placed, count, chance)
    found["hash, 4 copies, hot ones moved"] = evenness(
        copied, relieved(copied, placed, count), count, chance, before=placed
    )
    return found


def floor(values: NDArray[np.float64], count: int) -> float:
    """What the fullest of `count` shards has at least over the mean, wherever tenants are placed: the mean itself,
    and the largest tenant.
    """
    return float(max(1.0, values.max() * count / values.sum()))


def moved_by_growth(count: int, more: int, tenants: int, sizes: float, seed: int) -> dict[str, float]:
    """Share of the bytes that move when `more` shards join: by rendezvous hashing, and by modulo as the control. No
    placement that ends even can move less than more / (count + more).
    """
    given = Tenants.drawn(tenants, sizes, 0.0, np.random.default_rng(seed))
    found = {}
    for name, place in (("rendezvous hash", by_hash), ("hash modulo", by_modulo)):
        before, after = place(given, count), place(given, count + more)
        found[name] = float(given.bytes[before != after].sum() / given.bytes.sum())
    return found | {"least possible": more / (count + more)}


SHARDS = 64
TENANTS = 20_000
LAWS = ((0.0, 0.0), (0.8, 0.8), (1.0, 1.0), (1.0, 1.2))
"""Exponents of Zipf's law for sizes and for queries; uniform is the control."""
SEED = 7


def measure_skew(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """How uneven the shards get by each placement, as multiples of the mean; it measures nothing of the machine."""
    del setup
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    floors: list[tuple[str | float, ...]] = []
    for number, (sizes, queries) in enumerate(LAWS):
        rig.progress(number, len(LAWS), f"placing tenants by Zipf {sizes:g}/{queries:g}")
        given = Tenants.drawn(TENANTS, sizes, queries, np.random.default_rng(SEED))
        floors.append((f"{sizes:g} / {queries:g}", floor(given.bytes, SHARDS), floor(given.queries, SHARDS)))
        for name, found in compared(SHARDS, TENANTS, sizes, queries, SEED).items():
            rows.append((f"{sizes:g} / {queries:g}", name, found.bytes, found.queries, found.p99, f"{found.moved:.1%}"))
            if (sizes, queries) == LAWS[-1]:
                key = "".join(c if c.isalnum() else "_" for c in name).strip("_")
                metrics[f"skew_p99_{key}"] = found.p99
    growth = moved_by_growth(SHARDS, SHARDS // 4, TENANTS, LAWS[-1][0], SEED)
    columns = ("Zipf sizes / queries", "placement", "bytes", "queries", "p99 of a second", "bytes moved")
    return SubjectResult(
        metrics,
        {},
        (
            BenchTable(f"{TENANTS:,} tenants on {SHARDS} shards: the fullest over the mean", columns, tuple(rows)),
            BenchTable(
                "What no placement of whole tenants can undercut",
                ("Zipf sizes / queries", "bytes", "queries"),
                tuple(floors),
            ),
            BenchTable(
                f"Share of the bytes that move when {SHARDS // 4} shards join {SHARDS}",
                ("placement", "moved"),
                tuple((name, f"{share:.1%}") for name, share in growth.items()),
            ),
        ),
    )
