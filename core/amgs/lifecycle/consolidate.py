"""Consolidate raw blocks in the seven steps of AMGS §8.2: plan first, then write in a single transaction.

`plan` embeds the texts, finds names, categories and edges; the operator may edit the plan (`plan_editing`) before
`apply_plan` writes it. `consolidate_inbox` does both for a large inbox in batches, which together are a single entry of
the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.decay import relevance_at
from amgs.errors import Cancelled, UsageError
from amgs.index.neighbours import Near
from amgs.lifecycle.asked_model import ASKED, describe_note
from amgs.lifecycle.categories import NOTE, SURE, CategoryVerdict, categorise, decay_of, initial_confidence
from amgs.lifecycle.linking import Contents, Fresh, LinkContext, link, node
from amgs.lifecycle.self_detection import is_self_component, owner
from amgs.log import journal
from amgs.settings import DEFAULT_PROFILES, ConsolidationSettings, ProfileSettings
from amgs.storage.blocks import NumberedBlock
from amgs.storage.store import Storage
from amgs.text import names
from amgs.text.embedding import Embedder, load
from amgs.text.embedding_text import embedding_text
from amgs.text.entities import Entity, EntityRecogniser
from amgs.text.intervals import find_told_dates
from amgs.text.language_model import TextModel
from amgs.text.markdown import links
from amgs.text.prose import prose
from amgs.text.words import plural
from amgs.types import (
    Block,
    BlockFilter,
    ConsolidationItem,
    ConsolidationPlan,
    Edge,
    JournalEntry,
    Progress,
    ScoreParts,
    Vector,
    Weights,
)

KIND = "consolidate"
RAW = BlockFilter(statuses=("raw",))


def link_context(storage: Storage) -> LinkContext:
    """Return what linking needs to know of the consolidated blocks, and the authors of raw ones."""
    known = LinkContext()
    for description in storage.blocks.describe(BlockFilter(statuses=("raw", "consolidated"), current=True)):
        if description.status == "raw":
            known.note_author(description.meta)
        else:
            known.add([node(description.number, description.id, description.created_at, description.meta)])
    return known


@dataclass(frozen=True)
class ConsolidationInputs:
    """What a plan needs beside the blocks.

    near: finds the consolidated blocks nearest to unit vectors (m, d), as numbers. read: reads texts by id. profiles: λ
    of each decay profile. computed: called with texts and their vectors (n, d) as they are embedded. model: a language
    model that classifies notes the rules are unsure about; None: rules only.
    """

    settings: ConsolidationSettings
    embedder: Embedder
    recogniser: EntityRecogniser
    near: Callable[[Vector, NDArray[np.int64]], Near]
    read: Contents
    profiles: ProfileSettings = DEFAULT_PROFILES
    computed: Callable[[Sequence[str], Vector], None] = lambda _texts, _vectors: None
    model: TextModel | None = None


# --- the plan ---------------------------------------------------------------------------------------------


def plan(
    raw: Sequence[NumberedBlock],
    known: LinkContext,
    means: ConsolidationInputs,
    *,
    now: datetime,
    change_counter: int,
    progress: Progress | None = None,
) -> ConsolidationPlan:
    """Plan the consolidation of raw blocks; changes nothing in the store, but adds the blocks to `known`.

    Raises Cancelled after the current batch of `settings.batch` blocks when the operator stops it.
    """
    settings = means.settings
    fresh = [numbered_block.block for numbered_block in raw]
    owner_name = owner(known.authors)
    verdicts = [categorise(b.content, b.meta) for b in fresh]
    matrix = _embed_blocks(fresh, means, progress)
    if fresh:
        load(means.recogniser, "the name finder", progress)
    named = _find_names(fresh, means.recogniser, settings.batch, progress)
    if means.model is not None:
        _ask_model(fresh, verdicts, named, means.model, progress)
    blocks = [
        _consolidate_block(b, v, e, m, owner_name, means.profiles)
        for b, v, e, m in zip(fresh, verdicts, named, matrix, strict=True)
    ]
    if progress is not None:
        progress(len(raw), len(raw), "linking")
    near = means.near(matrix, known.numbers)
    edges = link(
        Fresh(
            tuple(node(n.number, b.id, b.created_at, b.meta) for n, b in zip(raw, blocks, strict=True)),
            tuple(b.content for b in blocks),
            matrix,
            Near(known.rows(near.rows), near.cosines),
        ),
        known,
        means.read,
        settings,
        now,
    )
    items = tuple(
        ConsolidationItem(
            block=block,
            category=block.category,
            category_confidence=verdict.confidence,
            category_because=verdict.because,
            entities=entities,
            decay_lambda=block.decay_lambda,
            is_self_component=block.is_self_component,
            confidence=block.confidence,
            edges=edges[block.id],
            embedding=vector,
        )
        for block, verdict, entities, vector in zip(blocks, verdicts, named, matrix, strict=True)
    )
    return ConsolidationPlan(items, now, change_counter)


def _embed_blocks(raw: Sequence[Block], means: ConsolidationInputs, progress: Progress | None) -> Vector:
    """Return unit vectors (n, d); texts of similar length are embedded together, so that a batch has little padding."""
    embedder, batch = means.embedder, means.settings.batch
    texts = [embedding_text(b) for b in raw]
    matrix = np.zeros((len(raw), embedder.dimension), dtype=np.float32)
    order = sorted(range(len(raw)), key=lambda i: (len(texts[i]), i))
    if order:
        load(embedder, "the encoder", progress)
    for start in range(0, len(order), batch):
        if progress is not None:
            progress(start, len(order), "embedding")
        rows = order[start : start + batch]
        some = [texts[i] for i in rows]
        matrix[rows] = embedder.embed(some)
        means.computed(some, matrix[rows])
    return matrix


def _find_names(
    raw: Sequence[Block], recogniser: EntityRecogniser, batch: int, progress: Progress | None
) -> list[tuple[str, ...]]:
    """Return the names in each block's text."""
    # The rules learn from a batch which words are names, so it has at least a few hundred blocks.
    size = max(batch, 512)
    entity_names: list[tuple[str, ...]] = []
    for start in range(0, len(raw), size):
        if progress is not None:
            progress(start, len(raw), "finding names")
        # Code and markup have no names; false ones would link unrelated blocks.
        texts = [prose(b.content) for b in raw[start : start + size]]
        entity_names += [_unique_names(entities) for entities in recogniser.recognise(texts)]
    return entity_names


def _ask_model(
    raw: Sequence[Block],
    verdicts: list[CategoryVerdict],
    named: list[tuple[str, ...]],
    model: TextModel,
    progress: Progress | None,
) -> None:
    """Ask a model for the categories and names of the longest notes that the rules are unsure about, and add them.

    Its first category becomes the block's, with a confidence below a rule's; the rule's own follows.
    """
    unsure = [n for n, verdict in enumerate(verdicts) if verdict.confidence < SURE]
    shown = sorted(unsure, key=lambda n: -len(raw[n].content))[:ASKED]
    for done, n in enumerate(shown):
        if progress is not None:
            progress(done, len(shown), f"asking {model.name}")
        kinds, new_names = describe_note(raw[n].content, model)
        known = {names.key(name) for name in named[n]}
        named[n] += tuple(name for name in new_names if names.key(name) not in known)
        if kinds:
            before = verdicts[n]
            own = () if before.category == NOTE else (before.category,)
            further = tuple(dict.fromkeys((*kinds[1:], *own, *before.further)))
            further = tuple(kind for kind in further if kind != kinds[0])
            verdicts[n] = replace(
                before, category=kinds[0], confidence=0.5, because=f"{model.name} says so", further=further
            )


def _unique_names(entities: Sequence[Entity]) -> tuple[str, ...]:
    """Return the distinct names, each in its first spelling; links are left out."""
    by_key: dict[str, str] = {}
    for entity in entities:
        name = entity.text if entity.kind == "identifier" else names.clean_name(entity.text)
        if name and entity.kind != "link":
            by_key.setdefault(names.key(name), name)
    return tuple(by_key.values())


def _consolidate_block(
    raw: Block,
    verdict: CategoryVerdict,
    entities: tuple[str, ...],
    vector: Vector,
    owner_name: str,
    profiles: ProfileSettings,
) -> Block:
    """Return the block as it will be stored; its content, id and times stay."""
    more: dict[str, list[str]] = {
        "entities": list(entities),
        "links": list(links(raw.content)),
        "dates": find_told_dates(raw.content, raw.written),
    }
    if verdict.further:
        more["categories"] = [verdict.category, *verdict.further]
    return replace(
        raw,
        category=verdict.category,
        confidence=initial_confidence(raw.content, verdict),
        decay_lambda=decay_of(verdict.category, profiles, verdict.confidence),
        status="consolidated",
        is_self_component=is_self_component(verdict.category, verdict.confidence, raw.meta, owner_name, raw.content),
        meta={**raw.meta, **{key: value for key, value in more.items() if value}},
        embedding=vector,
    )


# --- the change -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenConsolidation:
    """A journal entry that the next batch may extend, and how many blocks of each category it has."""

    operation: JournalEntry
    categories: Counter[str]


def apply_plan(
    storage: Storage,
    proposal: ConsolidationPlan,
    *,
    embedder: Embedder,
    weights: Weights,
    now: datetime,
    so_far: OpenConsolidation | None = None,
    edited: int = 0,
) -> JournalEntry:
    """Write a plan in a single transaction, with its journal entry.

    weights: of the frame for which first scores are stored. so_far: the entry to extend, unless another operation came
    after it. edited: how many blocks the operator corrected. Raises UsageError when a block is no longer raw; nothing
    is written then.
    """
    items = proposal.items
    with storage.transaction():
        before = storage.blocks.get([i.block.id for i in items])
        stale = [i.block.id for i in items if i.block.id not in before or before[i.block.id].status != "raw"]
        if stale:
            raise _out_of_date(items, stale, before)
        # Keep sources that were added since the plan was computed.
        after = [replace(i.block, meta={**i.block.meta, **_source_fields(before[i.block.id])}) for i in items]
        if items:
            storage.blocks.update(after, np.stack([i.embedding for i in items]))
            storage.meta.put_embedding_space(embedder.name, embedder.dimension)
        added = storage.edges.insert(_edges_between_live(storage, [e for i in items for e in i.edges]))
        storage.scores.put("ATTENTION", _first_scores(items, weights, now), now)
        rows = [journal.block_row(before[b.id], b) for b in after] + [journal.edge_row(None, e) for e in added]
        categories = Counter(i.category for i in items)
        if so_far is None or not journal.is_latest(storage, so_far.operation):
            suffix = f", {edited} corrected by hand" if edited else ""
            return journal.write(storage, KIND, now, _summary(categories) + suffix, rows)
        return journal.extend(storage, so_far.operation, now, _summary(so_far.categories + categories), rows)


def _out_of_date(items: Sequence[ConsolidationItem], stale: Sequence[str], now: Mapping[str, Block]) -> UsageError:
    """Return the error for a plan with blocks that are no longer raw."""
    reason = f"{len(stale)} of {len(items)} blocks are no longer raw, the first being {stale[0][:8]}"
    done = all(i in now and now[i].status == "consolidated" for i in stale)
    if done and len(stale) == len(items):
        return UsageError(
            f"{reason}: all of them were consolidated meanwhile.",
            title="The plan was carried out meanwhile",
            way_out="Nothing of it is left to do. Look at the inbox again for what has come since.",
        )
    return UsageError(
        f"{reason}{': they were consolidated meanwhile' if done else ''}.",
        title="The plan is out of date",
        way_out="Plan the consolidation again, for the blocks that are left.",
    )


def _source_fields(block: Block) -> dict[str, object]:
    return {key: block.meta[key] for key in ("source", "sources", "follows") if key in block.meta}


def _edges_between_live(storage: Storage, edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges whose ends are both still consolidated."""
    ends = {e.source_id for e in edges} | {e.target_id for e in edges}
    alive = {i for i, b in storage.blocks.get(ends).items() if b.status == "consolidated"}
    return [e for e in edges if e.source_id in alive and e.target_id in alive]


def _first_scores(items: Sequence[ConsolidationItem], weights: Weights, now: datetime) -> dict[str, float]:
    """Return each block's first composite score (step 6), without a query and reinforcements; centrality is the degree
    in the plan.
    """
    degree: Counter[str] = Counter()
    for item in items:
        for edge in item.edges:
            degree.update((edge.source_id, edge.target_id))
    most = max(degree.values(), default=1)
    return {
        i.block.id: ScoreParts(
            recency=relevance_at(i.decay_lambda, i.block.last_reinforced_at, now),
            centrality=degree[i.block.id] / most,
            confidence=i.confidence,
        )
        .weigh_parts(weights)
        .total()
        for i in items
    }


def _summary(kinds: Mapping[str, int]) -> str:
    """Describe a plan for the journal: how many blocks, and how many of the four commonest categories."""
    named = ", ".join(f"{n} {category}" for category, n in sorted(kinds.items(), key=lambda k: (-k[1], k[0]))[:4])
    count = sum(kinds.values())
    return f"{count} block{'' if count == 1 else 's'} ({named})" if named else "nothing to do"


# --- many blocks ------------------------------------------------------------------------------------------


def _still_raw(storage: Storage, numbers: Sequence[int]) -> list[NumberedBlock]:
    """Return those of these blocks that are still raw."""
    return [
        numbered_block for numbered_block in storage.blocks.by_number(numbers) if numbered_block.block.status == "raw"
    ]


def consolidate_inbox(
    storage: Storage,
    waiting: NDArray[np.int64],
    means: ConsolidationInputs,
    *,
    weights: Weights,
    clock: Clock,
    progress: Progress | None = None,
) -> Iterator[tuple[ConsolidationPlan, JournalEntry]]:
    """Consolidate the raw blocks with these numbers in batches of `settings.transaction`, a transaction each.

    Yields each batch's plan and the journal entry so far; nothing for an empty inbox. Only a batch is in memory at a
    time. A batch that another process consolidated in part meanwhile is planned again without that part. Raises
    Cancelled when the operator stops it; committed batches stay, and the message says how many blocks those are.
    """
    known, began = link_context(storage), clock.now()
    size = means.settings.transaction
    so_far: OpenConsolidation | None = None
    for start in range(0, waiting.size, size):
        batch = waiting[start : start + size].tolist()
        while True:
            raw = _still_raw(storage, batch)
            counter = storage.change_counter
            try:
                proposal = plan(
                    raw,
                    known,
                    means,
                    now=began,
                    change_counter=counter,
                    progress=_batch_progress(progress, start, waiting),
                )
            except Cancelled as stop:
                if so_far is None:
                    verb = "is" if waiting.size == 1 else "are"
                    raise Cancelled(
                        f"{stop.message} Nothing was stored: {plural(int(waiting.size), 'block')} {verb} still raw.",
                        way_out="`consolidate` begins anew.",
                    ) from stop
                raise Cancelled(
                    f"Stopped after {so_far.operation.blocks} blocks of {waiting.size}.",
                    way_out=f"They are consolidated; `undo {so_far.operation.id}` reverts that.",
                ) from stop
            proposal = replace(proposal, elsewhere=len(batch) - len(raw))
            with storage.transaction():
                if len(_still_raw(storage, batch)) < len(raw):  # another process was faster
                    known = link_context(storage)
                    continue
                done = apply_plan(
                    storage, proposal, embedder=means.embedder, weights=weights, now=clock.now(), so_far=so_far
                )
            break
        categories = Counter(i.category for i in proposal.items)
        if so_far is not None and so_far.operation.id == done.id:
            categories += so_far.categories
        so_far = OpenConsolidation(done, categories)
        yield proposal, done


def _batch_progress(progress: Progress | None, start: int, waiting: NDArray[np.int64]) -> Progress | None:
    """Return a progress that reports a batch's steps as part of the whole inbox."""
    if progress is None:
        return None
    whole = progress

    def report(done: int, total: int, doing: str) -> None:
        whole(start + done, int(waiting.size) if total else 0, doing)

    return Progress(report)
