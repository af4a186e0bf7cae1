"""Makes the store that ships with the sample, and tells whether it is still what the notes give.

python -m scripts.sample_build           makes it anew
python -m scripts.sample_build --check   builds one beside it and names what differs
"""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from amgs.clock import FixedClock, SystemClock
from amgs.memory import Memory
from amgs_app.panes.layout import Layout
from amgs_app.places.corpus import FACTS, STORE, archive, sample_corpus
from amgs_app.workplace.operator_commands import LAST, LAYOUT, layout_to_json

if TYPE_CHECKING:
    from amgs.text.embedding import Embedder
    from amgs.text.entities import EntityRecogniser
    from amgs.text.language_model import CountTokens

FRAME: Final = "SESSION"
QUESTION: Final = "what is the name of the sourdough?"
ANSWER: Final = "notes/people/beppo-carlin.md"
"""Where that is answered, in one sentence; the small model that ships answers it from there."""
VERDICTS: Final = 25
"""So many forecasts of the shipped store have their outcome: enough for a picture of how well they are calibrated."""
_READ: Final = 5
"""So many blocks of a frame are judged, as a person would who reads its beginning."""
NEW_NOTES: Final = (
    "Fox tracks behind the hen house this morning, two animals, one of them small.",
    "To do: a tin of grease for the dome before the open night on Saturday.",
    "The cable car stands still until noon because of the wind; the visitors come with the one at two.",
)
"""Written down since the rest was consolidated; they wait in the inbox."""
_ROOT: Final = "/shipped/sample_corpus"
"""Where the notes of the shipped store are said to lie. No such folder is there, so that `ingest` takes the user's for
the one that was moved.
"""
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "memory_blocks": ("id", "category", "status", "created_at", "is_self_component", "meta"),
    "edges": ("source_id", "target_id", "relation_type"),
    "source_blocks": ("source", "position", "locator", "block_id"),
    "sources": ("name", "path"),
}
"""What of a store must be the same wherever it is built. Vectors, and the weights that come of them, differ in their
last digits from one processor to the next.
"""


@dataclass(frozen=True, slots=True)
class TextModels:
    """What reads the notes."""

    embedder: Embedder
    recogniser: EntityRecogniser
    count_tokens: CountTokens


def shipped_models() -> TextModels:
    """The models that a user's own session takes, in full precision."""
    from amgs.text.entities import SpacyRecogniser
    from amgs.text.language_model import TokenCounter
    from amgs.text.minilm import MiniLM

    return TextModels(MiniLM(precision="float32"), SpacyRecogniser(), TokenCounter())


class _Standing(FixedClock):
    """Stands at an instant, yet measures how long something takes: the frame that is kept says so."""

    def perf(self) -> float:
        return SystemClock().perf()


def build(store: Path, models: TextModels) -> dict[str, Any]:
    """Make the sample's store at a path where nothing lies; gives the facts that are kept beside it."""
    corpus = sample_corpus()
    if corpus.now is None:
        raise ValueError("the sample has no year of its own")
    given: dict[str, Any] = {
        "clock": _Standing(corpus.now),
        "embedder": models.embedder,
        "recogniser": models.recogniser,
        "count_tokens": models.count_tokens,
    }
    with TemporaryDirectory(prefix="amgs-sample-") as folder:
        export = Path(folder) / "sample.json"
        with Memory.open(Path(folder) / "first.duckdb", **given) as memory:
            memory.ingest_folder(corpus.path)
            memory.consolidate()
            verdicts = _judge(memory, corpus.path)
            for note in NEW_NOTES:
                memory.ingest_text(note)
            memory.exchange.export(export)
        # A file that was written once holds nothing of what it held before: not where this machine has the notes.
        text = export.read_text(encoding="utf-8").replace(json.dumps(str(corpus.path)), json.dumps(_ROOT))
        export.write_text(text, encoding="utf-8")
        with Memory.open(store, **given) as memory:
            memory.exchange.load(export)
            frame = memory.assemble(FRAME, query=QUESTION)
            memory.frames.remember(frame)
            memory.keep(LAYOUT + LAST, layout_to_json(Layout(pane="frame")))
            status = memory.status()
            return {
                "notes": digest_of_notes(corpus.path),
                "store": digest(memory),
                "schema": status.schema_version,
                "blocks": sum(status.blocks.values()),
                "edges": status.edges,
                "verdicts": verdicts,
                "embedder": models.embedder.name,
                "recogniser": models.recogniser.name,
                "question": QUESTION,
            }


def _judge(memory: Memory, corpus: Path) -> int:
    """Ask the first questions that the corpus can answer, and say of what each frame begins with whether it answers:
    whether the question's own list of sources names it. Gives how many verdicts that were.
    """
    given = 0
    for line in (corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        if not asked["answers"]:
            continue
        frame = memory.assemble("ATTENTION", query=asked["question"])
        for each in frame.selected[: min(_READ, VERDICTS - given)]:
            useful = not set(asked["answers"]).isdisjoint(each.block.meta.get("sources", ()))
            memory.feedback(each.block.id, useful=useful, assembly_id=frame.id)
            given += 1
        if given == VERDICTS:
            break
    return given


def digest_of_notes(folder: Path) -> str:
    """SHA-256 over names and bytes of the files that the sample is made of."""
    told = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*.md") if one.is_file()):
        told.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        told.update(path.read_bytes())
    return told.hexdigest()


def digest(memory: Memory) -> dict[str, str]:
    """SHA-256 of the compared columns of each compared table, read off an export."""
    with TemporaryDirectory(prefix="amgs-sample-") as folder:
        export = Path(folder) / "sample.json"
        memory.exchange.export(export)
        tables = json.loads(export.read_text(encoding="utf-8"))["tables"]
    found = {}
    for table, columns in _COMPARED.items():
        names = [name for name, _ in tables[table]["columns"]]
        places = [names.index(column) for column in columns]
        rows = sorted(json.dumps([row[place] for place in places]) for row in tables[table]["rows"])
        found[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


def facts() -> dict[str, Any]:
    """What is kept beside the shipped store."""
    told: dict[str, Any] = json.loads(archive().with_name(FACTS).read_text(encoding="utf-8"))
    return told


def differences(kept: Mapping[str, Any], made: Mapping[str, Any]) -> list[str]:
    """What a store that was just built says otherwise than the shipped one."""
    return [
        f"{name}: {kept.get(name)} ships, the notes give {made[name]}" for name in made if kept.get(name) != made[name]
    ]


def main(arguments: list[str]) -> int:
    with TemporaryDirectory(prefix="amgs-sample-") as folder:
        store = Path(folder) / STORE
        made = build(store, shipped_models())
        if arguments == ["--check"]:
            found = differences(facts(), made)
            sys.stdout.write("\n".join(found or ["The shipped store is what the notes give."]) + "\n")
            return bool(found)
        place = archive()
        place.parent.mkdir(exist_ok=True)
        with tarfile.open(place, "w:gz", compresslevel=9) as packed:
            for part in sorted(Path(folder).glob(f"{STORE}*")):
                packed.add(part, part.name, filter=_anonymous)
        place.with_name(FACTS).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        sys.stdout.write(f"{place}: {place.stat().st_size:,} bytes, {made['blocks']:,} blocks\n")
    return 0


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without the owner and the hour of the machine that made it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
