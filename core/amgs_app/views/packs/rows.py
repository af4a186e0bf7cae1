"""How packs, their members, the packs for a question, and proposals are shown."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs_app.render.catalogue import entry, title_of
from amgs_app.render.format import describe_answer, mark_title, short_id
from amgs_app.render.glyphs import HOLDS_SIGNS
from amgs_app.render.rows import Line, RowList, Rows, join
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types import Block
    from amgs.wings.packs import (
        Pack,
        PackAssembly,
        PackContent,
        PackKept,
        PackOutcome,
        PackProposal,
        PackUsage,
        RoutedPack,
    )
    from amgs_app.render.canvas import Canvas
    from amgs_app.session import Operator
    from amgs_app.views.packs.commands import PackList, PackProposals


def format_name(pack: Pack) -> str:
    """`dome@2`."""
    return f"{pack.name}@{pack.version}"


PACKS: Final = Rows["PackUsage"](
    "pack*! state~ members:n? tokens:n uses:n useful:score? last:day? needed:score= weight:score? keywords*",
    lambda usage: (
        format_name(usage.pack),
        "retired" if usage.pack.retired else "would go" if usage.forget else None,
        len(usage.pack.members),
        usage.pack.tokens,
        usage.uses,
        usage.success,
        usage.last_used,
        usage.needed,
        usage.weight,
        " ".join(usage.pack.keywords),
    ),
    lambda usage: [
        (format_name(usage.pack), plural(usage.uses, "reading")),
        ("keywords", " ".join(usage.pack.keywords)),
    ],
    tones={"would go": "warn"},
    empty=(
        "A pack keeps what answered a question once, to be read again for the next.",
        "K  keep the present frame",
        ":pack keep NAME “a question”",
    ),
    pane="packs",
)
ROLES: Final = Rows[tuple[int, str, "Block"]](
    "#:n- id:id- role member*! category? created:day?",
    lambda row: (row[0], row[2].id, row[1], mark_title(row[2]), row[2].category, row[2].created_at),
    lambda row: [(mark_title(row[2]), row[1]), ("", row[2].content)],
    key=lambda row: row[2].id,
    tones={"learning": "accent"},
    empty=("None of its members is held any more.",),
    pane="packs",
)
ROUTED: Final = Rows["RoutedPack"](
    "pack*! state tokens:n worth:score= because*",
    lambda routed: (
        format_name(routed.pack),
        "in" if routed.chosen else "out",
        routed.tokens,
        routed.worth,
        routed.because,
    ),
    tones={"in": "good", "out": "warn"},
    empty=("No pack is saved.",),
    pane="packs",
)
PROPOSALS: Final = Rows["PackProposal"](
    "id action! pack*! sure:score= because*",
    lambda proposal: (proposal.id, proposal.action, " + ".join(proposal.packs), proposal.sure, proposal.because),
    lambda proposal: [
        (f"{proposal.action} {' + '.join(proposal.packs)}", f"becomes {proposal.name}" if proposal.name else ""),
        ("because", proposal.because),
        *((sign, short_id(block)) for sign, ids in (("+", proposal.come), ("−", proposal.gone)) for block in ids),
    ],
    empty=("There is nothing to add, update, delete or merge.",),
    pane="packs",
)

LISTING: Final = join(PACKS, ROLES, ROUTED, PROPOSALS)


@entry()
def pack_list(result: PackList) -> RowList[PackUsage]:
    notes = []
    if result.keep is not None:
        going = [usage.pack.name for usage in result.packs if usage.forget]
        left = sum(usage.pack.tokens for usage in result.packs if not (usage.forget or usage.pack.retired))
        notes.append(f"What stays takes {left:,} of {result.keep:,} tokens.")
        notes.append(f"`pack change DELETE {' '.join(going)}` retires the others." if going else "")
    return PACKS.of(plural(len(result.packs), "pack") if result.packs else "No pack yet", result.packs, notes)


@entry()
def pack_content(result: PackContent) -> RowList[tuple[int, str, Block]]:
    pack = result.usage.pack
    role = {member.block: member.role for member in pack.members}
    rows = [(n, role[block.id], block) for n, block in enumerate(result.blocks, 1)]
    suffix = ", retired" if pack.retired else ""
    title = f"{format_name(pack)}{suffix}: {plural(len(rows), 'block')}, {pack.tokens:,} tokens"
    about = [f"{label}: {text}" for label, text in about_pack(result)]
    return ROLES.of(f"{title}, {pack.title}" if pack.title else title, rows, about)


def about_pack(result: PackContent) -> list[Line]:
    """Return what a pack was saved from, its links to others, and its readings, newest first."""
    usage, pack = result.usage, result.usage.pack
    success = f", {usage.success:.0%} useful" if usage.success is not None else ""
    gone = [f"{plural(len(result.gone), 'member')}: {' '.join(map(short_id, result.gone))}"] if result.gone else []
    lines = [
        ("keywords", " ".join(pack.keywords)),
        ("saved for", f"{pack.query} ({pack.frame})" if pack.query else ""),
        ("no longer held", " ".join(gone)),
        ("read", f"{plural(usage.uses, 'time')}{success}; {plural(len(result.versions), 'version')}"),
        ("links", ", ".join(f"{link.graph} {link.weight:.2f} to {link.name}" for link in result.links)),
        ("read with", " ".join(result.beside)),
    ]
    for use in result.readings:
        sign = "" if use.outcome is None else f"{HOLDS_SIGNS[use.outcome >= 0.5]} "
        parts = (f"{use.at:%Y-%m-%d %H:%M}", f"{use.tokens:,} tokens", use.session, use.query)
        lines.append((f"{sign}reading {use.number}", "; ".join(filter(None, parts))))
    return [line for line in lines if line[1]]


def list_routed(result: PackAssembly) -> RowList[RoutedPack]:
    """Return the packs for a question with why each is in or out; below them the text and the steps."""
    below: list[Line] = [
        ("text", f"{result.tokens:,} of {result.budget:,} tokens"),
        ("", result.text or "No pack says anything of it."),
        *((stage.name, f"{stage.did} ({stage.tokens_in:,} → {stage.tokens_out:,} tokens)") for stage in result.stages),
        *((f"agent {name}", reason) for name, reason in result.rationale),
    ]
    return replace(ROUTED, detail=lambda _: below).of(_summarise_assembly(result), result.packs)


def _summarise_assembly(result: PackAssembly) -> str:
    logged = f"; reading{'s' * (len(result.uses) > 1)} {', '.join(map(str, result.uses))}" if result.uses else ""
    chosen = sum(routed.chosen for routed in result.packs)
    return f"{plural(chosen, 'pack')}, {result.tokens:,} of {result.budget:,} tokens{logged}"


def _draw_routed(_: Operator, result: PackAssembly, canvas: Canvas) -> Text:
    return list_routed(result).draw(canvas).render()


@entry(figure=_draw_routed, sentence=title_of)
def pack_assembly(result: PackAssembly) -> ResultTable:
    columns = "#:n layer did* unit? in:n out:n tokens_in:n tokens_out:n"
    rows = [(n, *astuple(stage)) for n, stage in enumerate(result.stages, 1)]
    notes = [f"{format_name(r.pack)} {'in' if r.chosen else 'out'}: {r.because}" for r in result.packs]
    notes += [f"agent {name}: {reason}" for name, reason in result.rationale]
    notes.append("No pack is saved." if not result.packs else result.text or "No pack says anything of it.")
    return sheet(_summarise_assembly(result), columns, rows, notes)


@entry()
def pack_proposals(result: PackProposals) -> RowList[PackProposal]:
    done = f"operation {result.done.id}: {result.done.summary}" if result.done is not None else ""
    note = "`pack change --accept ID` carries a proposal out, `--reject ID` is for good." if result.proposals else ""
    return PROPOSALS.of(plural(len(result.proposals), "proposal"), result.proposals, (done, note))


@entry(sentence=title_of, quiet=True)
def tabulate_kept_pack(result: PackKept) -> ResultTable:
    from amgs.retrieval.similarity import UNLIKELY

    pack, chance = result.pack, result.answerable
    done = f"saved, as operation {result.operation}" if result.operation is not None else "saved already"
    pairs: list[tuple[str, Any]] = [
        ("members", len(pack.members)),
        ("tokens", pack.tokens),
        ("keywords", ", ".join(pack.keywords)),
    ]
    pairs += [("query", pack.query or None), ("frame", pack.frame or None)]
    notes = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in describe_answer(result)]
    if chance is None and result.unestimated:
        notes.append(f"Whether the memory holds an answer was not estimated: {result.unestimated}.")
    if result.unheld or (chance is not None and chance < UNLIKELY):
        look = f"The members are the nearest blocks there are: look with `pack list {pack.name}`."
        notes.append(f"{look} `undo {result.operation}` takes it back." if result.operation is not None else look)
    return facts(f"{format_name(pack)} is {done}", pairs, notes)


@entry(sentence=title_of, quiet=True)
def pack_outcome(result: PackOutcome) -> ResultTable:
    rows = [
        (use.number, f"{use.name}@{use.version}", use.at, use.tokens, use.outcome, use.session or None, use.query)
        for use in result.uses
    ]
    taught = [f"weight of {name}: {before:.2f} → {after:.2f}" for name, before, after in result.taught]
    title = f"Outcome of {plural(len(rows), 'reading')}, as operation {result.operation}"
    return sheet(title, "use:n pack at:at tokens:n outcome:score session~ query*", rows, taught)
