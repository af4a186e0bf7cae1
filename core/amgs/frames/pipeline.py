"""The one way every frame is made: candidate pool, scoring, selection, assembly (AMGS §4.5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from amgs.clock import ShiftedClock, hours_before
from amgs.frames import pools
from amgs.frames.assemble import (
    Assembled,
    CountTokens,
    FrameSection,
    Shortener,
    Template,
    TextSpan,
    assemble,
    key_sentence,
)
from amgs.frames.compose import Filled, Pool, Pools, fill
from amgs.frames.registry import Definitions, check_budget, leaves
from amgs.frames.score import effective, entropy_bits
from amgs.frames.select import Taken, apart
from amgs.frames.self import Belonging, Members, identity
from amgs.retrieval.passage_finder import PassageFinder
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import Gathered, RetrievalRequest, gather
from amgs.settings import Settings
from amgs.text.plural import plural
from amgs.types import Block, BlockFilter, Candidate, Frame, FrameDefinition, FramePart, LayerReport, Vector, Weights


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """Request for a frame; budget (tokens) and weights replace those of the definition when set.

    For a composite, weights stand in for those of every child. as_of: of what held at that instant, None for now.
    """

    query: str = ""
    budget: int | None = None
    weights: Weights | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScoredPool:
    """An atomic frame's candidates with their costs, in the order of choice, and what it says of them."""

    candidates: tuple[Candidate, ...]
    weights: Weights
    layers: tuple[LayerReport, ...]
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def build(
    definition: FrameDefinition,
    request: FrameRequest,
    known: Definitions,
    sources: Sources,
    settings: Settings,
    count_tokens: CountTokens,
    scored_pools: Mapping[str, ScoredPool] = MappingProxyType({}),
) -> Frame:
    """Assemble a frame. Its tokens never exceed its budget, the template's own words included.

    scored_pools: scored candidates of children, by name, which are taken over as they are.

    Raises BudgetError for a budget that is not positive, UnknownFrameError when a child is not registered.
    """
    start = sources.clock.perf()
    budget = check_budget(definition.budget if request.budget is None else request.budget)
    sources = replace(sources, embed=_once(sources.embed))
    if request.as_of is not None:
        sources = replace(sources, clock=ShiftedClock(request.as_of, base=sources.clock))
    template = Template(definition.assembly, definition.name, request.query, sources.clock.now())
    atoms = leaves(definition, known)
    has_query = any(c.isalnum() for c in request.query)
    scored = {
        atom.name: _with_vectors(scored_pools[atom.name], sources)
        if atom.name in scored_pools
        else score_frame(atom, derive_request(definition, atom, request), sources, settings, template, count_tokens)
        for atom in atoms
    }
    if has_query:
        scored = _about_the_question(definition, atoms, scored)
    pools = {name: Pool(s.candidates) for name, s in scored.items()}
    if sum(bool(pool.eligible) for pool in pools.values()) > 1:  # one part that stands alone needs no title
        pools = {name: replace(pool, heading=count_tokens(template.heading(name))) for name, pool in pools.items()}
    vectors = {block_id: vector for s in scored.values() for block_id, vector in s.vectors.items()}
    finder = PassageFinder(sources.keyword.query(request.query), sources.keyword)
    shorten = Shortener(template, finder, count_tokens)
    filled, assembled, tokens = _fit_budget(definition, budget, pools, known, vectors, shorten, template, count_tokens)
    chosen = [c.block for c in filled.candidates if c.fate == "selected"]
    past = () if request.as_of is None else (f"what held on {request.as_of:%Y-%m-%d %H:%M}",)
    return Frame(
        id=frame_id(definition.name, request.query, template.as_of.isoformat(), [b.id for b in chosen]),
        name=definition.name,
        query=request.query,
        as_of=template.as_of,
        budget=budget,
        tokens=tokens,
        text=assembled.text,
        spans=assembled.spans,
        candidates=filled.candidates,
        ledger=filled.ledger,
        layers=_waterfall(atoms, scored),
        weights=request.weights or definition.rescore or _own_weights(definition, scored),
        entropy_bits=entropy_bits(block.category for block in chosen),
        remarks=(*past, *(remark for s in scored.values() for remark in s.remarks)),
        milliseconds=1000.0 * (sources.clock.perf() - start),
        parts=tuple(FramePart(a.name, definition.rescore or scored[a.name].weights, a.rule.gather) for a in atoms),
    )


def rewrite_summary(
    frame: Frame, definition: FrameDefinition, written: Mapping[str, str], by: str, count_tokens: CountTokens
) -> Frame:
    """Return a summary with what somebody wrote of its blocks, by their ids; of the others the key sentences stay. The
    frame as it is where that costs more than its budget.
    """
    template = Template(definition.assembly, definition.name, frame.query, frame.as_of)

    def content(candidate: Candidate) -> tuple[TextSpan, ...]:
        block = candidate.block
        return (TextSpan(written.get(block.id) or key_sentence(block.content, frame.query), block.id),)

    assembled = assemble(template, _sections(frame.candidates), count_tokens, content)
    tokens = count_tokens(assembled.text)
    if not written or tokens > frame.budget:
        return frame
    remark = f"{by} wrote of {plural(len(written), 'block')}; a sentence stays only if the block has its words"
    return replace(frame, text=assembled.text, spans=assembled.spans, tokens=tokens, remarks=(*frame.remarks, remark))


def choosable(
    frame: Frame, definition: FrameDefinition, sources: Sources, count_tokens: CountTokens
) -> dict[str, ScoredPool]:
    """Return the scored candidates that a frame chose from, by part, in their state before the choice."""
    template = Template(definition.assembly, definition.name, frame.query, frame.as_of)
    return {
        part.name: _with_vectors(
            ScoredPool(
                tuple(_choosable(c, template, count_tokens) for c in frame.candidates if c.child == part.name),
                part.weights,
                (),
            ),
            sources,
        )
        for part in frame.parts
    }


def _choosable(candidate: Candidate, template: Template, count_tokens: CountTokens) -> Candidate:
    whole = replace(candidate, passage=None)
    whole = replace(whole, tokens=template.cost(whole, count_tokens))
    if candidate.fate in ("below_threshold", "child_dropped"):  # refused whatever is chosen
        return whole
    return replace(whole, fate="selected", because="")


def derive_request(parent: FrameDefinition, atom: FrameDefinition, request: FrameRequest) -> FrameRequest:
    """Return what a frame is asked as part of another: an identity does not depend on the question (AMGS §10.2)."""
    if parent.is_composite and atom.rule.gather == "identity":
        return replace(request, query="")
    return request


def score_frame(
    definition: FrameDefinition,
    request: FrameRequest,
    sources: Sources,
    settings: Settings,
    template: Template,
    count_tokens: CountTokens,
) -> ScoredPool:
    """Return steps 1 and 2 for an atomic frame: gather its pool and score it."""
    has_query = any(c.isalnum() for c in request.query)
    shared = effective(definition, request.weights, has_query=has_query)
    wanted = apply_window(definition, request, sources)
    asked, members = asked_of(definition, wanted, request.query, shared.weights, sources, settings)
    gathered = gather(asked, sources)
    own = {c.block.id: members.get(gathered.numbers[c.block.id], Belonging("")) for c in gathered.candidates}
    ordered = sorted(gathered.candidates, key=lambda c: (own[c.block.id].tier, -c.score, c.block.id))
    ordered = [replace(c, because=own[c.block.id].because) for c in ordered[: definition.rule.pool]]
    if has_query and definition.rule.gather == "query":
        ordered = _relevant(ordered, definition.rule.similarity_share)
    costed = tuple(replace(c, child=definition.name, tokens=template.cost(c, count_tokens)) for c in ordered)
    return ScoredPool(
        costed,
        gathered.weights,
        gathered.layers,
        _vectors(costed, gathered, sources),
        (shared.remark,) if shared.remark else (),
    )


def asked_of(
    definition: FrameDefinition, wanted: BlockFilter, query: str, weights: Weights, sources: Sources, settings: Settings
) -> tuple[RetrievalRequest, Members]:
    """Return the request to the waterfall, and the blocks that are its pool where the frame has one of its own."""
    rule = definition.rule
    plain = RetrievalRequest(query, wanted, weights, hops=rule.hops)
    if rule.gather == "query":
        return replace(plain, recent=rule.pool, most=rule.pool), {}
    if rule.gather == "filter":
        present = sources.blocks.numbers(wanted, limit=rule.pool).tolist()
        return replace(plain, present=tuple(present)), {}
    if rule.gather == "identity":
        members = identity(wanted, sources, settings)
    else:
        members = (pools.gather_known if rule.gather == "known" else pools.gather_task)(query, wanted, rule, sources)
    numbers = tuple(sorted(members))
    return replace(plain, present=numbers, within=numbers), members


def apply_window(definition: FrameDefinition, request: FrameRequest, sources: Sources) -> BlockFilter:
    """Return the frame's filter for what holds now, or held as of the request, with the frame's time window; a block's
    last reinforcement is never before its creation.
    """
    rule = definition.rule
    wanted = replace(rule.filter, current=request.as_of is None, as_of=request.as_of)
    if rule.window_hours is None:
        return wanted
    since = hours_before(sources.clock.now(), rule.window_hours)
    earliest = wanted.reinforced_since
    return replace(wanted, reinforced_since=since if earliest is None else max(since, earliest))


def _relevant(candidates: list[Candidate], share: float) -> list[Candidate]:
    """Return candidates that match the query much worse than the best one are set aside."""
    needed = share * max((c.parts.similarity for c in candidates), default=0.0)
    return [
        c
        if c.parts.similarity >= needed
        else replace(
            c,
            fate="below_threshold",
            because=f"similarity {apart(c.parts.similarity, needed)}, {share:.0%} of the best",
        )
        for c in candidates
    ]


def _about_the_question(
    definition: FrameDefinition, atoms: Sequence[FrameDefinition], scored: Mapping[str, ScoredPool]
) -> dict[str, ScoredPool]:
    """Return the pools of a composite where a part that does not look at the question offers, of what the parts see
    that do, only what they find to be about it: what came last is no answer because it came last. Behind such a part in
    a priority chain it leaves that to them, whose order is better. What they do not see, such as raw blocks, it offers.
    """
    asking = [atom for atom in atoms if atom.rule.asks]
    about = {c.block.id for atom in asking for c in scored[atom.name].candidates if c.fate == "selected"}
    seen = {status for atom in asking for status in atom.rule.filter.statuses}
    names = " and ".join(atom.name for atom in asking)
    unrelated = f"{names} {'finds' if len(asking) == 1 else 'find'} nothing in it about the question"

    def decide_offer(candidate: Candidate, behind: bool) -> Candidate:
        if candidate.fate != "selected" or candidate.block.status not in seen:
            return candidate
        if candidate.block.id not in about:
            return replace(candidate, fate="below_threshold", because=unrelated)
        return replace(candidate, fate="duplicate", because=f"left to {names}") if behind else candidate

    result = dict(scored)
    for place, atom in enumerate(atoms):
        if atom.rule.gather == "filter":
            behind = definition.merge == "priority_chain" and any(
                earlier_atom in asking for earlier_atom in atoms[:place]
            )
            own = tuple(decide_offer(c, behind) for c in scored[atom.name].candidates)
            result[atom.name] = replace(scored[atom.name], candidates=own)
    return result


def _with_vectors(scored: ScoredPool, sources: Sources) -> ScoredPool:
    if scored.vectors:
        return scored
    numbers = sources.blocks.numbers_of([c.block.id for c in scored.candidates])
    known = {number: block_id for block_id, number in numbers.items()}
    vectors = sources.vectors.vectors(sorted(known))
    return replace(scored, vectors={known[n]: vector for n, vector in vectors.items()})


def _vectors(candidates: tuple[Candidate, ...], gathered: Gathered, sources: Sources) -> dict[str, Vector]:
    numbers = {gathered.numbers[c.block.id]: c.block.id for c in candidates}
    return {numbers[n]: vector for n, vector in sources.vectors.vectors(sorted(numbers)).items()}


def _fit_budget(
    definition: FrameDefinition,
    budget: int,
    pools: Pools,
    known: Definitions,
    vectors: Mapping[str, Vector],
    shorten: Shortener,
    template: Template,
    count_tokens: CountTokens,
) -> tuple[Filled, Assembled, int]:
    """Return steps 3 and 4: choose and write, with less to spend as long as the whole text counts more than the budget.

    Costs are counted piece by piece; a tokenizer may make more of the whole than of its pieces.
    """

    def heading(block: Block) -> int:
        return count_tokens(template.group_heading(block))

    spend = budget - count_tokens(template.opening()) - count_tokens(template.closing())
    while True:
        taken = Taken(vectors, definition.semantic_threshold, shorten, heading)
        filled = fill(definition, max(spend, -1), pools, known, taken)
        assembled = assemble(template, _sections(filled.candidates), count_tokens)
        tokens = count_tokens(assembled.text) if assembled.text else 0
        if tokens <= budget:
            return filled, assembled, tokens
        spend = min(spend, filled.used) - max(tokens - budget, 1)


def _sections(candidates: tuple[Candidate, ...]) -> list[FrameSection]:
    by_child: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.fate == "selected":
            by_child.setdefault(candidate.child, []).append(candidate)
    return [FrameSection(name if len(by_child) > 1 else "", tuple(chosen)) for name, chosen in by_child.items()]


def _waterfall(atoms: Sequence[FrameDefinition], scored: Mapping[str, ScoredPool]) -> tuple[LayerReport, ...]:
    """Return the reports that a frame shows: those of the first part that used the query, else of the first part."""
    asking = [atom.name for atom in atoms if atom.rule.asks]
    return scored[(asking or [atoms[0].name])[0]].layers


def _own_weights(definition: FrameDefinition, scored: Mapping[str, ScoredPool]) -> Weights:
    """Return what an atomic frame really scored with; a composite shows its own, its children score with theirs."""
    return definition.weights if definition.is_composite else scored[definition.name].weights


def frame_id(name: str, query: str, as_of: str, block_ids: list[str]) -> str:
    """16 hexadecimal digits of what was asked, when and what was chosen: equal assemblies, equal ids."""
    text = json.dumps([name, query, as_of, block_ids])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _once(embed: Callable[[str], Vector]) -> Callable[[str], Vector]:
    """Return the embedder with a memory: the children of a composite ask for the same query."""
    known: dict[str, Vector] = {}

    def embed_once(text: str) -> Vector:
        if text not in known:
            known[text] = embed(text)
        return known[text]

    return embed_once
