"""Labels of LensNet on disk: a folder of Parquet files, one a snapshot, that hold all that training needs.

MegaContext, "Counterfactual ΔNLL labeling". A file keeps the lifetime's tokens and the layout, so that gists and
features can be made anew with another encoder; what was measured stays what it was.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from amgs_focus.errors import TextError
from amgs_focus.gist import GistEncoder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import ProgressCallback
from amgs_focus.records import NodeRef, parent_of
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import Entry, WorkingContext, gist_entry
from benchmarks.focus_training.counterfactuals import (
    Gained,
    HorizonReader,
    Label,
    LabelledAction,
    LabelSnapshot,
    candidates,
    counterfactuals,
)
from benchmarks.focus_training.lens_runs import LensRuns, LensSnapshot, LensText, snapshot_at

FORMAT = "amgs-lens-labels-2"

_LABEL = pa.struct(
    [
        ("level", pa.int32()),
        ("index", pa.int64()),
        ("kind", pa.string()),
        ("gain", pa.float64()),
        ("error", pa.float64()),
        ("gains", pa.list_(pa.float32())),
        ("utility", pa.float64()),
        ("positions", pa.int32()),
        ("span_width", pa.int64()),
        ("distance_to_cursor", pa.int64()),
    ]
)
_JOINT = pa.struct([("blocks", pa.list_(pa.int64())), ("gains", pa.list_(pa.float32())), ("positions", pa.int32())])
SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("document", pa.string()),
        ("group", pa.string()),
        ("tokens", pa.list_(pa.int32())),
        ("future", pa.list_(pa.int32())),
        ("question", pa.list_(pa.int32())),
        ("asked_start", pa.int64()),
        ("asked_end", pa.int64()),
        ("entry_levels", pa.list_(pa.int32())),
        ("entry_indexes", pa.list_(pa.int64())),
        ("window", pa.int32()),
        ("tail_blocks", pa.int32()),
        ("block_size", pa.int32()),
        ("gist", pa.string()),
        ("gist_version", pa.int64()),
        ("model", pa.string()),
        ("labels", pa.list_(_LABEL)),
        ("joint", pa.list_(_JOINT)),
    ],
    metadata={"format": FORMAT},
)


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What is in a folder of labels. done: snapshots measured now."""

    folder: str
    done: int
    snapshots: int
    labels: int


@dataclass(frozen=True, slots=True)
class JointLabel(Gained):
    """What the detail below several level-1 gists is worth together, against all of level 1 closed."""

    nodes: tuple[NodeRef, ...]


@dataclass(frozen=True, slots=True)
class LabelledSnapshot:
    """A snapshot as it was read back, and its labels. joint: of several blocks together."""

    number: int
    document: str
    group: str
    snapshot: LabelSnapshot
    labels: tuple[Label, ...]
    asked: tuple[int, int]
    joint: tuple[JointLabel, ...] = ()


def label_runs(
    folder: Path,
    texts: Sequence[LensText],
    runs: LensRuns,
    model: BaseModel,
    gist: GistEncoder,
    scorer: FocusScorer,
    *,
    snapshots: int,
    exact: int = 12,
    together: int = 0,
    progress: ProgressCallback | None = None,
) -> LabelReport:
    """Label snapshots 0 to `snapshots` − 1, each with up to `exact` candidates; those on disk are kept.

    together: sets of blocks of each snapshot without a question whose detail is measured as a whole.
    What `progress` raises cancels; every finished snapshot is then on disk.
    Raises TextError when a text is too short, FocusError when the model gives no numbers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = labels = 0
    for number in range(snapshots):
        path = folder / f"{number:06d}.parquet"
        if path.exists():
            labels += len(pq.read_table(path, columns=["labels"])["labels"][0])
            continue
        if progress is not None:
            progress(number, snapshots, "labels")
        drawn = snapshot_at(number, texts, runs, model, gist, scorer)
        found = candidates(drawn.snapshot.context, drawn.snapshot.tree)
        chosen = choose(drawn, found, exact, random.Random(f"{runs.seed}:{number}:candidates"))
        teacher = full_text(drawn.snapshot)
        measured = counterfactuals(drawn.snapshot, [found[at] for at in chosen], progress, teacher)
        asked = bool(drawn.snapshot.question)
        sets = [] if asked else joint_sets(drawn, together, random.Random(f"{runs.seed}:{number}:joint"))
        jointly = joint(drawn.snapshot, sets, teacher)
        write(path, drawn, measured, jointly)
        done, labels = done + 1, labels + len(measured)
    total = len(list(folder.glob("*.parquet")))
    return LabelReport(str(folder), done, total, labels)


def full_text(snapshot: LabelSnapshot) -> torch.Tensor:
    """(H, V) log-probabilities of the model that reads the whole lifetime in tokens, along the snapshot's future."""
    tree, model = snapshot.tree, snapshot.tree.model
    following = torch.tensor(snapshot.future, dtype=torch.int64)
    lifetime = torch.from_numpy(tree.tokens(0, tree.length).astype("int64"))
    read = torch.cat([torch.tensor(model.sinks()), lifetime, following[:-1]])
    with torch.no_grad():
        hidden = model.forward(model.embed(read)[None])[0, -len(following) :]
        logits: torch.Tensor = model.logits(hidden)
    return logits.double().log_softmax(dim=-1)


def joint(
    snapshot: LabelSnapshot, sets: Sequence[Sequence[NodeRef]], teacher: torch.Tensor | None = None
) -> tuple[JointLabel, ...]:
    """What each set of level-1 gists is worth when all of it is open and nothing else of level 1 is.

    Single gains do not add up: tokens that go on from one another help more than islands do. Raises FocusError
    as `counterfactuals` does.
    """
    context = snapshot.context
    before = opened_blocks(context)
    closed = with_open(context, before, ())
    reader = HorizonReader(snapshot, teacher)
    base = reader.losses(closed)
    labels = []
    for nodes in sets:
        chosen = with_open(closed, (), nodes)
        gains = base - reader.losses(chosen)
        labels.append(JointLabel(tuple(gains.tolist()), chosen.used - closed.used, tuple(nodes)))
    return tuple(labels)


def opened_blocks(context: WorkingContext) -> list[NodeRef]:
    """Level-1 gists outside the tail that stand open, in order of time."""
    return [
        parent_of(entry.node, context.block_size)
        for entry in context.entries()
        if not entry.level and entry.end <= context.tail_start
    ]


def choose(drawn: LensSnapshot, found: Sequence[LabelledAction], exact: int, generator: random.Random) -> list[int]:
    """Which candidates are measured, in order of time: all that touch the fact asked about, those above level 1,
    then any of what is left.
    """
    if len(found) <= exact:
        return list(range(len(found)))
    low, high = drawn.asked
    tree = drawn.snapshot.tree
    taken = [at for at, one in enumerate(found) if _touches(tree, one.node, low, high)]
    taken += [at for at, one in enumerate(found) if one.node.level > 1 and at not in taken]
    taken = taken[:exact]
    rest = [at for at in range(len(found)) if at not in taken]
    return sorted(taken + generator.sample(rest, exact - len(taken)))


def joint_sets(drawn: LensSnapshot, count: int, generator: random.Random) -> list[list[NodeRef]]:
    """`count` sets of blocks that fill the room or part of it: the latest, a run somewhere, or any, in turns."""
    context = drawn.snapshot.context
    opened = opened_blocks(context)
    closed = with_open(context, opened, ())
    blocks = [entry.node for entry in closed.entries() if entry.level == 1]
    most = min(len(blocks), closed.free // (context.block_size - 1))
    if most < 1:
        return []
    sets = []
    for number in range(count):
        size = most if number < 3 else generator.randint(1, most)
        start = generator.randrange(len(blocks) - size + 1)
        run, latest = blocks[start : start + size], blocks[len(blocks) - size :]
        sets.append((latest, run, sorted(generator.sample(blocks, size)))[number % 3])
    return sets


def write(path: Path, drawn: LensSnapshot, labels: Sequence[Label], jointly: Sequence[JointLabel] = ()) -> None:
    """One snapshot with its labels, in one rename."""
    snapshot = drawn.snapshot
    context, tree = snapshot.context, snapshot.tree
    row: dict[str, Any] = {
        "number": drawn.number,
        "document": drawn.document,
        "group": drawn.group,
        "tokens": tree.tokens(0, tree.length).astype("int32").tolist(),
        "future": list(snapshot.future),
        "question": list(snapshot.question),
        "asked_start": drawn.asked[0],
        "asked_end": drawn.asked[1],
        "entry_levels": [entry.level for entry in context.entries()],
        "entry_indexes": [entry.index for entry in context.entries()],
        "window": context.window,
        "tail_blocks": context.tail_blocks,
        "block_size": context.block_size,
        "gist": tree.gist.name,
        "gist_version": tree.gist.version,
        "model": tree.model.card.name,
        "labels": [
            {
                "level": label.node.level,
                "index": label.node.index,
                "kind": label.kind,
                "gain": label.gain,
                "error": label.error,
                "gains": label.gains,
                "utility": label.utility,
                "positions": label.positions,
                "span_width": tree.span(label.node)[1] - tree.span(label.node)[0],
                "distance_to_cursor": -(-(tree.length - tree.span(label.node)[1]) // tree.block_size),
            }
            for label in labels
        ],
        "joint": [
            {"blocks": [node.index for node in label.nodes], "gains": label.gains, "positions": label.positions}
            for label in jointly
        ],
    }
    partial = path.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist([row], schema=SCHEMA), partial)
    partial.replace(path)


def read(path: Path, model: BaseModel, gist: GistEncoder) -> LabelledSnapshot:
    """A snapshot as `write` wrote it, its tree built anew with `gist`.

    Raises TextError when the file is none of ours, is damaged, or was made with another model.
    """
    try:
        table = pq.read_table(path)
        if (table.schema.metadata or {}).get(b"format", b"").decode() != FORMAT:
            raise TextError(f"{path.name} holds no lens labels.", way_out="Choose a folder that holds lens labels.")
        row = table.to_pylist()[0]
    except (OSError, pa.ArrowException, IndexError) as error:
        raise TextError(
            f"The labels {path.name} cannot be read ({error}).", way_out="Delete the file and label again."
        ) from error
    if row["model"] != model.card.name:
        raise TextError(
            f"{path.name} was labelled with {row['model']}, not with {model.card.name}.",
            way_out="Use the model that it was labelled with, or label again.",
        )
    tree = LifetimeTree(model, gist, block_size=row["block_size"])
    tree.append(row["tokens"])
    entries = tuple(
        _entry(level, index, tree) for level, index in zip(row["entry_levels"], row["entry_indexes"], strict=True)
    )
    context = WorkingContext(entries, tree.length, row["window"], tree.block_size, row["tail_blocks"])
    labels = tuple(
        Label(
            node=NodeRef(one["level"], one["index"]),
            kind=one["kind"],
            gains=tuple(one["gains"]),
            positions=one["positions"],
        )
        for one in row["labels"]
    )
    return LabelledSnapshot(
        number=row["number"],
        document=row["document"],
        group=row["group"],
        snapshot=LabelSnapshot(context, tree, tuple(row["future"]), tuple(row["question"])),
        labels=labels,
        asked=(row["asked_start"], row["asked_end"]),
        joint=tuple(
            JointLabel(
                gains=tuple(one["gains"]),
                positions=one["positions"],
                nodes=tuple(NodeRef(1, block) for block in one["blocks"]),
            )
            for one in row.get("joint") or ()  # files of before have none
        ),
    )


def _entry(level: int, index: int, tree: LifetimeTree) -> Entry:
    if level:
        return gist_entry(NodeRef(level, index), tree.block_size)
    start, end = tree.span(NodeRef(0, index))
    return Entry(0, index, start, end, end - start)


def _touches(tree: LifetimeTree, node: NodeRef, low: int, high: int) -> bool:
    start, end = tree.span(node)
    return start < high and low < end


def with_open(context: WorkingContext, before: Iterable[NodeRef], opened: Iterable[NodeRef]) -> WorkingContext:
    """The context with other gists open: those that close first, the finest before what is above them."""
    old, new = set(before), set(opened)
    for node in sorted(old - new):
        context, _ = context.collapse(node)
    for node in sorted(new - old, key=lambda node: (-node.level, node.index)):
        place = context.position(node)
        if place is not None:
            context, _ = context.expand(place)
    return context
