"""Build a frame in four steps: gather its candidates, score them, select within the budget, write the text (AMGS §4.5).

`api.assembler` calls `build`; `frames.why`, calibration and diagnosis build frames again to try a change. The tokens
never exceed the budget, and every candidate keeps its fate, so that a frame can be explained.
"""

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
from amgs.frames.pools import Belonging, Members, gather_identity
from amgs.frames.registry import Definitions, check_budget, leaves
from amgs.frames.select import Selection, compare_values, effective_weights, entropy_bits
from amgs.retrieval.passage_finder import PassageFinder
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import Gathered, RetrievalRequest, gather
from amgs.settings import Settings
from amgs.text.words import plural
from amgs.types import Block, BlockFilter, Candidate, Frame, FrameDefinition, FramePart, LayerReport, Vector, Weights


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """What a frame is asked for. budget (tokens) and weights, when set, replace those of the definition.

    For a composite, weights replace those of every child. as_of: the instant whose valid blocks count; None for now.
    """

    query: str = ""
    budget: int | None = None
    weights: Weights | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScoredPool:
    """Scored candidates of an atomic frame, with their cost in tokens, in the order of selection.

    vectors: unit embeddings (d,) by block id. remarks: sentences for the operator, such as weights that did not apply.
    """

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
    """Assemble a frame. Its tokens, the template's own words included, never exceed its budget.

    known: all registered definitions, for the children of a composite. scored_pools: candidates of children that are
    scored already, by name; those are not gathered again.

    Raises BudgetError for a budget that is not positive, UnknownFrameError when a child is not registered.
    """
    start = sources.clock.perf()
    budget = check_budget(definition.budget if request.budget is None else request.budget)
    sources = replace(sources, embed=_cache_embedding(sources.embed))
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
        scored = _keep_related(definition, atoms, scored)
    pools = {name: Pool(s.candidates) for name, s in scored.items()}
    if sum(bool(pool.eligible) for pool in pools.values()) > 1:  # a single part needs no title
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
        layers=_shown_reports(atoms, scored),
        weights=request.weights or definition.rescore or _shown_weights(definition, scored),
        entropy_bits=entropy_bits(block.category for block in chosen),
        remarks=(*past, *(remark for s in scored.values() for remark in s.remarks)),
        milliseconds=1000.0 * (sources.clock.perf() - start),
        parts=tuple(FramePart(a.name, definition.rescore or scored[a.name].weights, a.rule.gather) for a in atoms),
    )


def rewrite_summary(
    frame: Frame, definition: FrameDefinition, written: Mapping[str, str], by: str, count_tokens: CountTokens
) -> Frame:
    """Replace the key sentences of a summary frame by sentences that a model wrote.

    written: text by block id; the other blocks keep their key sentence. by: the model's name, for the remark. Returns
    the frame unchanged where the new text costs more than the budget.
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


def candidates_before_choice(
    frame: Frame, definition: FrameDefinition, sources: Sources, count_tokens: CountTokens
) -> dict[str, ScoredPool]:
    """Return the candidates of each part of a frame as they were before selection, so that it can be repeated with
    another budget.
    """
    template = Template(definition.assembly, definition.name, frame.query, frame.as_of)
    return {
        part.name: _with_vectors(
            ScoredPool(
                tuple(_undo_choice(c, template, count_tokens) for c in frame.candidates if c.child == part.name),
                part.weights,
                (),
            ),
            sources,
        )
        for part in frame.parts
    }


def _undo_choice(candidate: Candidate, template: Template, count_tokens: CountTokens) -> Candidate:
    """Return a candidate uncut and open to selection, unless it was refused before the selection."""
    whole = replace(candidate, passage=None)
    whole = replace(whole, tokens=template.cost(whole, count_tokens))
    if candidate.fate in ("below_threshold", "child_dropped"):  # refused before the selection
        return whole
    return replace(whole, fate="selected", because="")


def derive_request(parent: FrameDefinition, atom: FrameDefinition, request: FrameRequest) -> FrameRequest:
    """Return the request for a part of a composite: an identity frame gets no query, so that it is the same for every
    question (AMGS §10.2).
    """
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
    """Gather and score the candidates of an atomic frame (steps 1 and 2), with the cost of each in tokens."""
    has_query = any(c.isalnum() for c in request.query)
    shared = effective_weights(definition, request.weights, has_query=has_query)
    wanted = apply_window(definition, request, sources)
    asked, members = build_search(definition, wanted, request.query, shared.weights, sources, settings)
    gathered = gather(asked, sources)
    own = {c.block.id: members.get(gathered.numbers[c.block.id], Belonging("")) for c in gathered.candidates}
    ordered = sorted(gathered.candidates, key=lambda c: (own[c.block.id].tier, -c.score, c.block.id))
    ordered = [replace(c, because=own[c.block.id].because) for c in ordered[: definition.rule.pool]]
    if has_query and definition.rule.gather == "query":
        ordered = _drop_dissimilar(ordered, definition.rule.similarity_share)
    costed = tuple(replace(c, child=definition.name, tokens=template.cost(c, count_tokens)) for c in ordered)
    return ScoredPool(
        costed,
        gathered.weights,
        gathered.layers,
        _vectors(costed, gathered, sources),
        (shared.remark,) if shared.remark else (),
    )


def build_search(
    definition: FrameDefinition, wanted: BlockFilter, query: str, weights: Weights, sources: Sources, settings: Settings
) -> tuple[RetrievalRequest, Members]:
    """Return the search that gathers a frame's candidates, and its members where the frame's rule names them itself.

    `gather` of the rule decides: "query": search hits; "filter": all that pass the filter; otherwise the members of an
    identity, of known things or of a task.
    """
    rule = definition.rule
    plain = RetrievalRequest(query, wanted, weights, hops=rule.hops)
    if rule.gather == "query":
        return replace(plain, recent=rule.pool, most=rule.pool), {}
    if rule.gather == "filter":
        present = sources.blocks.numbers(wanted, limit=rule.pool).tolist()
        return replace(plain, present=tuple(present)), {}
    if rule.gather == "identity":
        members = gather_identity(wanted, sources, settings)
    else:
        members = (pools.gather_known if rule.gather == "known" else pools.gather_task)(query, wanted, rule, sources)
    numbers = tuple(sorted(members))
    return replace(plain, present=numbers, within=numbers), members


def apply_window(definition: FrameDefinition, request: FrameRequest, sources: Sources) -> BlockFilter:
    """Return the frame's filter, limited to blocks valid now (or as of the request) and to the frame's time window.

    The window is on the last reinforcement, which is never before the creation.
    """
    rule = definition.rule
    wanted = replace(rule.filter, current=request.as_of is None, as_of=request.as_of)
    if rule.window_hours is None:
        return wanted
    since = hours_before(sources.clock.now(), rule.window_hours)
    earliest = wanted.reinforced_since
    return replace(wanted, reinforced_since=since if earliest is None else max(since, earliest))


def _drop_dissimilar(candidates: list[Candidate], share: float) -> list[Candidate]:
    """Mark candidates "below_threshold" whose similarity is under `share` of the best candidate's."""
    needed = share * max((c.parts.similarity for c in candidates), default=0.0)
    return [
        c
        if c.parts.similarity >= needed
        else replace(
            c,
            fate="below_threshold",
            because=f"similarity {compare_values(c.parts.similarity, needed)}, {share:.0%} of the best",
        )
        for c in candidates
    ]


def _keep_related(
    definition: FrameDefinition, atoms: Sequence[FrameDefinition], scored: Mapping[str, ScoredPool]
) -> dict[str, ScoredPool]:
    """Limit the parts of a composite that ignore the question, such as SHORT_TERM, to blocks about the question.

    A block counts as about it when a part that uses the question selects it from its pool. In a priority chain, a part
    after a part that uses the question leaves even those to it, because its order is better. Blocks that those parts do
    not look at, such as raw ones, stay.
    """
    question_parts = [atom for atom in atoms if atom.rule.asks]
    about = {c.block.id for atom in question_parts for c in scored[atom.name].candidates if c.fate == "selected"}
    searched_statuses = {status for atom in question_parts for status in atom.rule.filter.statuses}
    names = " and ".join(atom.name for atom in question_parts)
    unrelated = f"{names} {'finds' if len(question_parts) == 1 else 'find'} nothing in it about the question"

    def decide_offer(candidate: Candidate, behind: bool) -> Candidate:
        """Return the candidate, refused where it is unrelated, or where an earlier part has it (`behind`)."""
        if candidate.fate != "selected" or candidate.block.status not in searched_statuses:
            return candidate
        if candidate.block.id not in about:
            return replace(candidate, fate="below_threshold", because=unrelated)
        return replace(candidate, fate="duplicate", because=f"left to {names}") if behind else candidate

    result = dict(scored)
    for index, atom in enumerate(atoms):
        if atom.rule.gather == "filter":
            behind = definition.merge == "priority_chain" and any(
                earlier_atom in question_parts for earlier_atom in atoms[:index]
            )
            own = tuple(decide_offer(c, behind) for c in scored[atom.name].candidates)
            result[atom.name] = replace(scored[atom.name], candidates=own)
    return result


def _with_vectors(scored: ScoredPool, sources: Sources) -> ScoredPool:
    """Return the pool with its blocks' embeddings, which a cached pool lacks."""
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
    """Select the blocks and write the text (steps 3 and 4); return both, and the text's tokens.

    Costs are counted piece by piece, and a tokenizer may count more for the whole text: then it selects again with
    fewer tokens to spend, until the whole is within the budget.
    """

    def heading(block: Block) -> int:
        return count_tokens(template.group_heading(block))

    spend = budget - count_tokens(template.opening()) - count_tokens(template.closing())
    while True:
        taken = Selection(vectors, definition.semantic_threshold, shorten, heading)
        filled = fill(definition, max(spend, -1), pools, known, taken)
        assembled = assemble(template, _sections(filled.candidates), count_tokens)
        tokens = count_tokens(assembled.text) if assembled.text else 0
        if tokens <= budget:
            return filled, assembled, tokens
        spend = min(spend, filled.used) - max(tokens - budget, 1)


def _sections(candidates: tuple[Candidate, ...]) -> list[FrameSection]:
    """Group the selected candidates by the part that selected them; a single part gets no title."""
    by_child: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.fate == "selected":
            by_child.setdefault(candidate.child, []).append(candidate)
    return [FrameSection(name if len(by_child) > 1 else "", tuple(chosen)) for name, chosen in by_child.items()]


def _shown_reports(atoms: Sequence[FrameDefinition], scored: Mapping[str, ScoredPool]) -> tuple[LayerReport, ...]:
    """Return the layer reports that a frame shows: those of the first part that uses the query, or else the first."""
    asking = [atom.name for atom in atoms if atom.rule.asks]
    return scored[(asking or [atoms[0].name])[0]].layers


def _shown_weights(definition: FrameDefinition, scored: Mapping[str, ScoredPool]) -> Weights:
    """Return the weights that a frame shows: those that an atomic frame scored with; for a composite, its own."""
    return definition.weights if definition.is_composite else scored[definition.name].weights


def frame_id(name: str, query: str, as_of: str, block_ids: list[str]) -> str:
    """Return a frame's id, 16 hexadecimal digits of a hash: assemblies with equal arguments have equal ids."""
    text = json.dumps([name, query, as_of, block_ids])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _cache_embedding(embed: Callable[[str], Vector]) -> Callable[[str], Vector]:
    """Return the embedder with a cache, because the children of a composite embed the same query."""
    known: dict[str, Vector] = {}

    def embed_once(text: str) -> Vector:
        if text not in known:
            known[text] = embed(text)
        return known[text]

    return embed_once
