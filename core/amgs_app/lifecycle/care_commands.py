"""Keep a memory in shape: `enhance`, `prune`, `review`, `secrets scan`; correct a consolidation before it is
applied (`consolidate plan` and `consolidate edit`); `export` and `import`.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs.text.words import plural
from amgs_app import results
from amgs_app.calls.marks import Arg, CategoryName, DryRun, Limit, MostBlocks, Option, Reference, Takes
from amgs_app.calls.operation import operation
from amgs_app.lifecycle.commands import require_draft
from amgs_app.places.paths import choose_export_path

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, ForeignImport, Imported
    from amgs.lifecycle.erase import ErasureReceipt, SecretScan
    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.lifecycle.proposing import EnhancementPlan
    from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
    from amgs.types import JournalEntry, Progress
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


_EDGE = "its number in the plan, or the start of the other block's id; repeat for several."


@operation(
    "consolidate plan",
    summary="Draft a consolidation to correct before applying it.",
    example="consolidate plan --limit 20",
    pane="inbox",
    long=True,
    lists=lambda draft: [item.block.id for item in draft.proposed.items],
)
def plan(
    operator: Operator,
    *,
    limit: Annotated[
        int | None, Option("--limit", metavar="N", min=1, help="At most N blocks, oldest arrivals first.")
    ] = None,
    anew: Annotated[bool, Option("--anew", help="Discard the corrections so far.")] = False,
    progress: Progress | None = None,
) -> PlanDraft:
    """Draft what consolidation would make of the inbox: category, entities, edges, decay. Nothing is written.

    `consolidate edit` corrects it, `consolidate --draft` applies it. The session keeps a single draft: while the same
    blocks wait it stays as it is, and corrections carry over to a new draft where they still fit.
    """
    before = None if anew else operator.draft
    operator.draft = operator.engine.memory.lifecycle.draft_consolidation(limit=limit, before=before, progress=progress)
    return operator.draft


@operation(
    "consolidate edit",
    lane="turn",
    summary="Correct a block of the drafted consolidation.",
    example="consolidate edit @1 --category procedure --confidence 0.9",
    pane="inbox",
)
def edit(
    operator: Operator,
    block: Reference = None,
    *,
    category: CategoryName = None,
    new: Annotated[bool, Option("--new", help="Allow a category that no block has yet.")] = False,
    confidence: Annotated[float | None, Option("--confidence", metavar="X", help="Confidence, 0 to 1.")] = None,
    take: Annotated[
        Literal["yes", "no"] | None,
        Option("--take", metavar="yes|no", help="no leaves the block out; it stays in the inbox."),
    ] = None,
    drop: Annotated[list[str] | None, Option("--drop", metavar="EDGE", help=f"Drop this edge: {_EDGE}")] = None,
    keep: Annotated[list[str] | None, Option("--keep", metavar="EDGE", help="Keep an edge that was dropped.")] = None,
    sure: Annotated[
        list[str] | None, Option("--sure", metavar="EDGE=X", help="Give an edge this confidence; may be repeated.")
    ] = None,
    reset: Annotated[bool, Option("--reset", help="Discard the corrections to this block first.")] = False,
) -> PlanDraft:
    """Correct what the draft says about a single block; nothing is written until `consolidate --draft`.

    A category sets its own decay profile, and later plans learn from it. Repeating a proposed value is not a
    correction.
    """
    from amgs.lifecycle import plan_editing

    draft, chosen = require_draft(operator), operator.engine.block(block).id
    if reset:
        draft = plan_editing.reset_block(draft, chosen)
    draft = operator.engine.memory.lifecycle.edit_draft(
        draft,
        chosen,
        category=category,
        new=new,
        confidence=confidence,
        left_out=None if take is None else take == "no",
        drop=drop or (),
        keep=keep or (),
        sure=dict(_pair(text) for text in sure or ()),
    )
    operator.draft = draft
    return draft


def _pair(text: str) -> tuple[str, float]:
    """Parse EDGE=X; raises UsageError."""
    edge, _, value = text.partition("=")
    try:
        return edge, float(value)
    except ValueError:
        raise UsageError(f"{text!r} is not EDGE=X.", way_out="For example --sure 2=.9.") from None


class Concern(StrEnum):
    """Kinds of proposals from enhancement."""

    DUPLICATE = "duplicate"
    MERGE = "merge"
    OVERLAP = "overlap"
    SPLIT = "split"
    WEAK_EDGE = "weak_edge"
    STRENGTHEN = "strengthen"
    WEAKEN = "weaken"
    CONFIDENCE = "confidence"


Only = Annotated[list[str] | None, Option("--only", metavar="ID", help="Only this proposal; may be repeated.")]
Concerns = Annotated[
    list[Concern] | None, Option("--kind", metavar="KIND", help="Only proposals of this kind; may be repeated.")
]
MostOfAKind = Annotated[int | None, Option("--limit", metavar="N", min=1, help="At most N proposals per kind.")]


@operation(
    "enhance",
    summary="Repair the graph: duplicates, splits, edges, confidences.",
    synonyms=("deduplicate", "repair", "duplicates"),
    example="enhance --kind split --apply",
    long=True,
    writes=True,
)
def enhance(
    engine: Engine,
    *,
    only: Only = None,
    kind: Concerns = None,
    limit: MostOfAKind = None,
    apply: Annotated[bool, Option("--apply", help="Carry the proposals out.")] = False,
    dry_run: DryRun = False,
    progress: Progress | None = None,
) -> EnhancementPlan | results.Enhanced:
    """Propose merges of duplicates, links between accounts of the same event, splits, and changes of edges and
    confidences.

    Shows the proposals with their ids, reasons and effects; --apply carries them out, those that --only names or all.
    What differs in what it says is never merged. A merge or a split makes new blocks and archives the old ones. `undo`
    reverts all of it.
    """
    lifecycle = engine.memory.lifecycle
    plan = lifecycle.plan_enhancement(
        kinds=[concern.value for concern in kind] if kind else (), limit=limit, progress=progress
    )
    chosen = lifecycle.choose(plan, only or ())
    if dry_run or not apply:
        from dataclasses import replace

        return replace(plan, proposals=chosen)
    return results.Enhanced(chosen, lifecycle.apply_enhancement(plan, only or ()) if chosen else None)


def _list_planned_blocks(result: PrunePlan | Pruned | PruneAssessment | ErasureReceipt) -> list[str] | None:
    """Return the ids of the blocks that a pruning takes; None if a block was only explained."""
    plan = getattr(result, "plan", result)
    candidates = getattr(plan, "candidates", None)
    return None if candidates is None else [candidate.block.id for candidate in candidates]


@operation(
    "prune",
    summary="Archive blocks that are faded, peripheral, unused and low-confidence.",
    synonyms=("forget", "clean up", "shrink"),
    example="prune --dry-run",
    writes=True,
    lists=_list_planned_blocks,
)
def prune(
    engine: Engine,
    *,
    dry_run: DryRun = False,
    limit: MostBlocks = None,
    threshold: Annotated[
        float | None, Option("--threshold", metavar="X", min=0, max=1, help="Relevance under which a block is faded.")
    ] = None,
    explain: Annotated[
        str | None,
        Option("--explain", metavar="ID", help="Explain what keeps a block; nothing is pruned."),
        Takes("block"),
    ] = None,
    hard: Annotated[bool, Option("--hard", help="Delete blocks that are already pruned.")] = False,
    erase: Annotated[bool, Option("--erase", help="With --hard: erase their texts. No undo.")] = False,
    yes: Annotated[bool, Option("--yes", help="Required for --hard.")] = False,
    progress: Progress | None = None,
) -> PrunePlan | Pruned | PruneAssessment | ErasureReceipt:
    """Mark blocks as pruned and drop their edges, if they are under all four limits at once.

    With --explain nothing is pruned: each of a block's four signs is compared with its limit. With --hard, blocks
    that are already pruned leave the memory; the table deleted_blocks keeps them. Both can be undone.

    With --hard --erase nothing of their texts stays in the store, as with `block delete --hard`: it gives the same
    receipt and cannot be undone.
    """
    lifecycle = engine.memory.lifecycle
    if erase and not hard:
        raise UsageError("--erase erases what --hard deletes.", way_out="Give both, or leave --erase out.")
    if explain is not None:
        wanted = engine.block(explain).id
        return lifecycle.explain_pruning(wanted, threshold=threshold)
    plan = lifecycle.plan_pruning(hard=hard, limit=limit, threshold=threshold)
    if dry_run or not plan.candidates:
        return plan
    if hard and not yes:
        raise UsageError(
            f"--hard would {'erase' if erase else 'delete'} {plural(len(plan.candidates), 'block')}.",
            way_out="Add --yes, or preview with --dry-run.",
        )
    if erase:
        return engine.memory.erasure.erase([candidate.block.id for candidate in plan.candidates], progress)
    return lifecycle.apply_pruning(plan)


@operation(
    "review",
    summary="List what may be superseded, contradicted or merged; look for it; decide on it.",
    synonyms=("conflicts", "contradictions", "duplicates", "accept", "reject", "resolve"),
    example="review --scan",
    pane="inbox",
    long=True,
    writes=True,
    writes_by=("scan", "accept", "reject"),
    lists=lambda result: [i for pair in getattr(result, "items", ()) for i in (pair.older.id, pair.newer.id)] or None,
)
def review(
    engine: Engine,
    *,
    scan: Annotated[bool, Option("--scan", help="First compare blocks on the same subject.")] = False,
    accept: Annotated[int | None, Option("--accept", metavar="ID", help="Apply a finding of the list.")] = None,
    reject: Annotated[int | None, Option("--reject", metavar="ID", help="Never propose a finding again.")] = None,
    every: Annotated[bool, Option("--all", help="Include decided findings.")] = False,
    limit: Limit = 50,
    progress: Progress | None = None,
) -> results.ReviewList | JournalEntry:
    """List findings, most certain first, with both blocks and the words that conflict. --scan looks for new ones and
    changes nothing else; `undo` reopens what was decided.

    A superseded block stays, marked with its successor and the time; a contradiction becomes an edge; two blocks that
    say the same are merged into a single block, and both are archived.
    """
    lifecycle = engine.memory.lifecycle
    if (accept is not None) + (reject is not None) + scan > 1:
        raise UsageError("--scan, --accept and --reject exclude each other.", way_out="Give only one.")
    if accept is not None:
        return lifecycle.accept(accept)
    if reject is not None:
        return lifecycle.reject(reject)
    if scan and (plan := lifecycle.plan_review(progress=progress)).found:
        lifecycle.apply_review(plan)
    return results.ReviewList(lifecycle.reviews(every=every, limit=limit), scan)


@operation(
    "secrets scan",
    audience="workstation",
    needs="operate",
    summary="Find keys, tokens and passwords that the memory holds, and mask them.",
    synonyms=("api key", "token", "password", "credentials", "redact", "leak"),
    example="secrets scan --apply",
    long=True,
    writes=True,
)
def scan_secrets(
    engine: Engine,
    *,
    apply: Annotated[bool, Option("--apply", help="Mask what is found.")] = False,
    restore: Annotated[
        int | None, Option("--restore", metavar="N", min=1, help="Put back what operation N masked.")
    ] = None,
    forget: Annotated[
        int | None, Option("--forget", metavar="N", min=1, help="Delete the file of what operation N masked; for good.")
    ] = None,
    progress: Progress | None = None,
) -> SecretScan | JournalEntry:
    """Look for secrets in everything the memory holds: notes, conversations, the journal, past searches.

    What comes in is masked already, unless `memory.ingest.secrets` is keep; this finds what came in before. --apply
    masks it everywhere in a single operation and hashes the notes anew. The secrets are then stored in a single file
    beside the store that only its owner can read; --restore puts them back from it, and --forget deletes it.
    """
    del progress
    erasure = engine.memory.erasure
    if sum(option is not None for option in (restore, forget, apply or None)) > 1:
        raise UsageError("--apply, --restore and --forget exclude each other.", way_out="Give only one.")
    if restore is not None:
        return erasure.restore_secrets(restore)
    if forget is not None:
        erasure.forget_secrets(forget)
    return erasure.mask_secrets() if apply else erasure.scan_secrets()


Source = Literal["mem0", "chatgpt", "claude", "mcp", "messages"]
"""Programs whose files can be imported."""


@operation(
    "export",
    long=True,
    needs="operate",
    audience="workstation",
    summary="Write the whole memory to a JSON or GraphML file.",
    synonyms=("back up", "backup", "dump"),
    example="export memory.json",
)
def export(
    engine: Engine,
    path: Annotated[
        Path | None,
        Arg(metavar="PATH", help="The file to write; memory.json or memory.graphml here by default."),
        Takes("file", writes=True),
    ] = None,
    *,
    format: Annotated[
        Literal["json", "graphml"] | None,
        Option("--format", help="JSON, or GraphML for graph programs; default: as the PATH ends, else JSON."),
    ] = None,
) -> Exported:
    """Write every table, in full or not at all. `import` reads both formats back without loss.

    A PATH that is there is replaced, and the result says so; without a PATH no file is.
    """
    form = format or ("graphml" if path is not None and path.suffix.lower() == ".graphml" else "json")
    return engine.memory.exchange.export(path or choose_export_path(form), form)


@operation(
    "import",
    summary="Import an exported memory, sessions of agents, or what another program exported.",
    synonyms=("migrate from", "chat history", "transcript", "claude code", "codex"),
    example="import memory.json --dry-run",
    long=True,
    writes=True,
    creates=True,
    needs="operate",
)
def load(
    engine: Engine,
    paths: Annotated[
        list[Path],
        Arg(metavar="PATH", help="A file that `export` wrote; files of other programs, or folders of them."),
        Takes("file"),
    ],
    *,
    source: Annotated[
        Source | None,
        Option("--from", metavar="FORMAT", help="The program that wrote the files, if their content does not tell."),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only show what other programs' files hold, and what it would become.")
    ] = False,
    conversations: Annotated[
        bool, Option("--conversations/--no-conversations", help="Keep conversations as conversations, too.")
    ] = True,
    progress: Progress | None = None,
) -> Imported | ForeignImport:
    """Read a JSON or GraphML export of a memory, or files of other programs; of a folder, all that are known.

    An export goes into an empty store. Every value is checked before the first row is written: either the whole file
    is imported, or nothing.

    Sessions of Claude Code, Codex and other agents, files of mem0, ChatGPT, Claude and transcripts in the style of
    OpenAI and Anthropic go into any store, as a single ingest that `undo` takes back. They are recognised by what
    stands in them. What was not taken over is named.
    """
    exchange = engine.memory.exchange
    file = paths[0] if len(paths) == 1 and not paths[0].is_dir() else None
    if file is None or source is not None or not exchange.is_export(file):
        return exchange.load_foreign(paths, source, dry_run=dry_run, conversations=conversations, progress=progress)
    if dry_run:
        raise UsageError(
            "An exported memory cannot be tried out.",
            way_out="Import it into a new store: it is checked whole before anything is written.",
        )
    return exchange.load(file, progress)
