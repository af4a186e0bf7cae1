"""Store packs: tables `packs`, `pack_uses`, `pack_credits` and `pack_proposals`, versions under a name, and
keywords that tell a pack from the rest of the memory.

An outcome is a row of `pack_credits`, valid while its operation is not undone. Outcomes that an older version wrote
into `pack_uses` hold if there is no such row.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.decay import hours_between
from amgs.errors import UsageError
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import idf
from amgs.storage.connection import StoragePart, to_stored_time
from amgs.text.words import COMMON_WORDS
from amgs.types import Block
from amgs.wings.packs import continuum
from amgs.wings.packs.values import Pack, PackAction, PackMember, PackProposal, PackRole, PackUsage, PackUse


class UnknownPackError(UsageError):
    """No pack has this name or version."""

    title = "No such pack"


_VALID = (
    "(SELECT p.*, (p.retired_by IS NOT NULL AND r.undone IS NOT TRUE) AS retired FROM packs p "
    "LEFT JOIN operations a ON a.id = p.added_by LEFT JOIN operations r ON r.id = p.retired_by "
    "WHERE a.undone IS NOT TRUE)"
)
"""SQL: versions whose operations are not undone, and whether they are retired."""
_COLUMNS = "name, version, id, title, members::VARCHAR, keywords::VARCHAR, tokens, created_at, query, frame, retired"
_OUTCOME = "outcome"
"""Value of `pack_credits.model` for an outcome; votes of agents have `agent NAME`."""
_USES = (
    "u.number, u.name, u.version, u.pack, u.used_at, u.query, u.session, u.tokens, u.blocks::VARCHAR, "
    "coalesce(c.credit, u.outcome)"
)
_CREDITED = "(SELECT c.* FROM pack_credits c JOIN operations o ON o.id = c.credited_by AND NOT o.undone)"
_LATEST_OUTCOME = (
    f"(SELECT DISTINCT ON (number) number, credit FROM {_CREDITED} s WHERE model = '{_OUTCOME}' "
    "ORDER BY number, credited_by DESC)"
)


class PackStorage(StoragePart):
    """Versions of packs by name.

    A version is valid while the operation that saved it is not undone, retired while the operation that retired it is
    not.
    """

    def put(self, pack: Pack, operation: int) -> None:
        """Store a version."""
        members = json.dumps([[member.block, member.role] for member in pack.members])
        keywords = json.dumps(list(pack.keywords), ensure_ascii=False)
        row = [
            pack.name,
            pack.version,
            pack.id,
            pack.title,
            members,
            keywords,
            pack.tokens,
            to_stored_time(pack.created_at),
        ]
        sql = "INSERT INTO packs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
        self._execute(sql, [*row, pack.query, pack.frame, operation], structural=False)

    def retire(self, name: str, operation: int) -> None:
        """Mark all versions of a name as retired."""
        undone = "SELECT id FROM operations WHERE undone"
        sql = f"UPDATE packs SET retired_by = ? WHERE name = ? AND (retired_by IS NULL OR retired_by IN ({undone}))"
        self._execute(sql, [operation, name], structural=False)

    def versions(self, name: str) -> tuple[Pack, ...]:
        """Return the versions of a name, oldest first, including retired ones."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM {_VALID} WHERE name = ? ORDER BY version", [name])
        return tuple(map(_pack, rows))

    def born(self, name: str) -> datetime:
        """Return the time of a name's first version."""
        rows = self._rows(f"SELECT created_at FROM {_VALID} WHERE name = ? ORDER BY version LIMIT 1", [name])
        return as_utc(rows[0][0])

    def latest(self) -> tuple[Pack, ...]:
        """Return the latest version of each name, by name, including retired ones."""
        rows = self._rows(f"SELECT DISTINCT ON (name) {_COLUMNS} FROM {_VALID} ORDER BY name, version DESC")
        return tuple(map(_pack, rows))

    def log(self, pack: Pack, at: datetime, query: str, session: str, tokens: int, blocks: Sequence[str]) -> int:
        """Log a reading of a pack; return its number."""
        number = int(self._value("SELECT coalesce(max(number), 0) + 1 FROM pack_uses"))
        row = [
            number,
            pack.name,
            pack.version,
            pack.id,
            to_stored_time(at),
            query,
            session,
            tokens,
            json.dumps(list(blocks)),
        ]
        self._execute("INSERT INTO pack_uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", row, structural=False)
        return number

    def judge(self, number: int, outcome: float, votes: Mapping[str, float], operation: int) -> None:
        """Store the outcome of a reading, and each agent's vote for it."""
        for model, credit in {_OUTCOME: outcome, **{f"agent {agent}": vote for agent, vote in votes.items()}}.items():
            row = [number, credit, model, operation]
            self._execute("INSERT INTO pack_credits VALUES (?, ?, ?, ?)", row, structural=False)

    def votes(self) -> tuple[tuple[str, float, float], ...]:
        """Return (agent, vote, outcome) of all judged readings."""
        rows = self._rows(
            f"SELECT v.model, v.credit, c.credit FROM {_CREDITED} v JOIN {_LATEST_OUTCOME} c ON c.number = v.number "
            "WHERE starts_with(v.model, 'agent ') ORDER BY v.credited_by, v.number, v.model"
        )
        return tuple((str(agent).partition(" ")[2], float(vote), float(outcome)) for agent, vote, outcome in rows)

    def uses(self) -> tuple[PackUse, ...]:
        """Return the readings, newest first."""
        sql = f"SELECT {_USES} FROM pack_uses u LEFT JOIN {_LATEST_OUTCOME} c ON c.number = u.number"
        return tuple(map(_use, self._rows(f"{sql} ORDER BY u.number DESC")))

    def decide(self, proposal: PackProposal, verdict: str, at: datetime, operation: int) -> None:
        """Store a verdict on a proposal, "accepted" or "rejected", and the operation that carried it out."""
        number = int(self._value("SELECT coalesce(max(number), 0) + 1 FROM pack_proposals"))
        packs = json.dumps(list(proposal.packs), ensure_ascii=False)
        ids = [json.dumps(list(blocks)) for blocks in (proposal.come, proposal.gone)]
        state = json.dumps(list(proposal.features))
        sql = "INSERT INTO pack_proposals VALUES (?, ?, ?, 'linear', 0, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, ?, ?)"
        row = [
            number,
            operation,
            to_stored_time(at),
            proposal.action,
            packs,
            proposal.name,
            *ids,
            proposal.because,
            state,
        ]
        self._execute(sql, [*row, proposal.sure, verdict, operation], structural=False)

    def read_decisions(self) -> tuple[PackDecision, ...]:
        """Return the proposals with a valid verdict, in order of the verdicts."""
        rows = self._rows(
            "SELECT p.action, p.packs::VARCHAR, p.name, p.features::VARCHAR, p.verdict = 'accepted', p.found_at "
            "FROM pack_proposals p JOIN operations v ON v.id = p.decided_by AND NOT v.undone ORDER BY p.number"
        )
        return tuple(map(_decision, rows))


@dataclass(frozen=True, slots=True)
class PackDecision:
    """A verdict on a proposal. features: the pack's state that the policy saw; () from older versions."""

    action: PackAction
    packs: tuple[str, ...]
    name: str
    features: tuple[float, ...]
    accepted: bool
    at: datetime


def _decision(row: Sequence[Any]) -> PackDecision:
    action, packs, name, features, accepted, at = row
    state = json.loads(features)
    seen = tuple(map(float, state)) if isinstance(state, list) else ()
    return PackDecision(action, tuple(map(str, json.loads(packs))), str(name), seen, bool(accepted), as_utc(at))


def _pack(row: Sequence[Any]) -> Pack:
    name, version, id_, title, members, keywords, tokens, created_at, *kept_from, retired = row
    own = tuple(PackMember(str(block), role) for block, role in json.loads(members))
    words, (query, frame) = tuple(map(str, json.loads(keywords))), map(str, kept_from)
    return Pack(name, version, id_, title, own, words, int(tokens), as_utc(created_at), query, frame, bool(retired))


def _use(row: Sequence[Any]) -> PackUse:
    number, name, version, pack, at, query, session, tokens, blocks, outcome = row
    own, score = tuple(map(str, json.loads(blocks))), None if outcome is None else float(outcome)
    return PackUse(number, name, version, pack, as_utc(at), query, session, int(tokens), own, score)


HORIZON, MOST = 30.0, 8
"""Days within which the need of a pack is predicted; most keywords of a pack."""
_LONGEST_NAME, _LATELY = 80, 5
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")


def next_version(versions: Sequence[Pack], pack: Pack) -> Pack:
    """Return a pack with id and version number, following these versions; the last of them if it is equal."""
    content = [pack.title, list(pack.keywords), [[member.block, member.role] for member in pack.members]]
    own = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    if versions and versions[-1].id == own and not versions[-1].retired:
        return versions[-1]
    return replace(pack, id=own, version=versions[-1].version + 1 if versions else 1)


def role_of(block: Block) -> PackRole:
    """Return the role of a block: "learning" if it was derived from others."""
    return "learning" if block.meta.get("derived_from") else "source"


def check_name(name: str) -> None:
    """Raise UsageError for an invalid name."""
    if name.strip() != name or not 0 < len(name) <= _LONGEST_NAME or "@" in name or not name.isprintable():
        way_out = f"Use up to {_LONGEST_NAME} printable characters without @."
        raise UsageError(f"{name[:40]!r} is no name for a pack.", way_out=way_out)


def find(storage: PackStorage, reference: str, *, in_use: bool = False) -> Pack:
    """Return the pack `NAME`, in its latest version, or `NAME@VERSION`.

    in_use: raise UsageError for a retired pack. Raises UnknownPackError if it does not exist.
    """
    name, at, number = reference.partition("@")
    versions = storage.versions(name)
    if not versions:
        known = [pack.name for pack in storage.latest() if not pack.retired]
        listed = f"The packs are: {', '.join(known[:5])}{', …' if len(known) > 5 else ''}."
        raise UnknownPackError(f"There is no pack {name[:60]!r}.", way_out=listed if known else "None is saved.")
    version = next((pack for pack in versions[::-1] if not at or str(pack.version) == number), None)
    if version is None:
        way_out = f"Its latest versions are {', '.join(str(pack.version) for pack in versions[-5:])}."
        raise UnknownPackError(f"{name!r} has no version {number[:20]!r}.", way_out=way_out)
    if in_use and version.retired:
        way_out = "Undo that, keep it anew, or use another."
        raise UsageError(f"{name}@{version.version} is retired.", title="A retired pack", way_out=way_out)
    return version


def usage(pack: Pack, uses: Sequence[PackUse], born: datetime, now: datetime, weight: float = 0.5) -> PackUsage:
    """Return a pack with what its log says. uses: of its name, newest first. born: when it was first saved."""
    age = max(hours_between(born, now), 0.0) / 24.0
    last = min(max(hours_between(born, uses[0].at), 0.0) / 24.0, age) if uses else 0.0
    judged = [use.outcome for use in reversed(uses) if use.outcome is not None]
    return PackUsage(
        pack,
        len(uses),
        uses[0].at if uses else None,
        len(judged),
        sum(judged) / len(judged) if judged else None,
        continuum.reading_probability(len(uses), last, age, HORIZON),
        born,
        age,
        age - last,
        failures(judged),
        weight,
    )


def failures(outcomes: Sequence[float]) -> int:
    """Return how many of the latest outcomes are below .5; outcomes: oldest first."""
    return sum(outcome < 0.5 for outcome in outcomes[-_LATELY:])


def names_of(references: Sequence[str]) -> list[str]:
    """Return the names in references `NAME@VERSION`."""
    return [reference.rpartition("@")[0] for reference in references]


def keywords(texts: Sequence[str], index: LexicalIndex) -> tuple[str, ...]:
    """Return the words that are in most of the texts but few other blocks, best first: number of texts times idf; each
    in its most frequent spelling.
    """
    written: dict[str, Counter[str]] = defaultdict(Counter)
    texts_with: Counter[str] = Counter()
    for text in texts:
        words = [(index.stems(word), word) for word in _WORD.findall(text) if word.lower() not in COMMON_WORDS]
        single = [(stems[0], word) for stems, word in words if len(stems) == 1]
        for stem, word in single:
            written[stem][word] += 1
        texts_with.update({stem for stem, _ in single})
    worth = {stem: n * idf(index.documents, index.frequency(stem)) for stem, n in texts_with.items()}
    best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:MOST]
    return tuple(min(written[stem], key=lambda word: (-written[stem][word], word)) for stem in best)
