"""The texts of a run: tokenised once, cut into blocks, kept as Arrow shards that say where they are from, and read in
windows.

MegaContext, "Dataset staging". A shard is one Arrow file a text and split; a row is one block of K tokens, and
rows follow each other as in the text. What does not fill a block at a split's end is left out. Training maps the
files into memory and reads only the windows that it draws.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import torch
from pyarrow import ipc
from torch.utils.dlpack import from_dlpack

from amgs_focus.errors import TextError
from amgs_focus.gist import BLOCK
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import ProgressCallback
from benchmarks.focus_training.records import Shard, Staged
from benchmarks.focus_training.run_config import DataConfig, TextConfig


@dataclass(frozen=True, slots=True)
class Part:
    """One text of the corpus: how often windows come from it, what is trained on and what is kept apart.

    digest: SHA-256 of its files, empty where they are not known.
    """

    name: str
    weight: float
    train: torch.Tensor
    validation: torch.Tensor
    digest: str = ""


@dataclass(frozen=True, slots=True)
class TrainingCorpus:
    """The texts of a run, as token ids."""

    parts: tuple[Part, ...]

    def window(self, length: int, generator: torch.Generator) -> torch.Tensor:
        """(length,) ids from a random place of a text drawn by weight."""
        return self.windows(1, length, generator)[0]

    def windows(self, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """(count, length) ids from random places of one text drawn by weight."""
        weights = torch.tensor([part.weight for part in self.parts])
        part = self.parts[int(torch.multinomial(weights, 1, generator=generator))]
        room = len(part.train) - length
        if room < 0:
            raise TextError(
                f"{part.name} has {len(part.train)} tokens and a window needs {length}.",
                way_out="Leave it out, or give a longer text.",
            )
        starts = torch.randint(room + 1, (count,), generator=generator).tolist()
        return torch.stack([part.train[start : start + length] for start in starts])


FORMAT = "amgs-shard-1"
_KEY = b"amgs"
_PIECE = 1 << 20  # characters encoded at a time: the unit of progress and of cancelling

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = get_args(Split)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a shard says of itself. digest: SHA-256 of the text's bytes, file after file.

    files: (name inside the text, SHA-256) in the order of reading. first: the split's first token in the text.
    left_out: tokens at its end that did not fill a block.
    """

    name: str
    split: Split
    model: str
    vocabulary: int
    held_out: float
    digest: str
    files: tuple[tuple[str, str], ...]
    first: int
    tokens: int
    left_out: int
    block_size: int = BLOCK
    format: str = FORMAT


def stage(data: DataConfig, model: BaseModel, progress: ProgressCallback | None = None) -> Staged:
    """Brings the shards of every text up to date and says what is there.

    A shard that was made of the same bytes with the same vocabulary is kept. Raises TextError for a text that
    cannot be read or holds less than a block, and whatever `progress` raises to cancel; finished shards stay.
    """
    made = [_stage_text(text, data.staged, model, progress) for text in data.texts]
    return Staged(str(data.staged), tuple(shard for shards in made for shard in shards))


def open_corpus(data: DataConfig, model: BaseModel, progress: ProgressCallback | None = None) -> TrainingCorpus:
    """The staged texts as a corpus over memory-mapped files; stages what is missing or out of date."""
    stage(data, model, progress)
    parts = []
    for text in data.texts:
        (told, train), (_, validation) = (read_shard(_file(data.staged, text.name, split)) for split in SPLITS)
        parts.append(Part(text.name, text.weight, train, validation, told.digest))
    return TrainingCorpus(tuple(parts))


def read_shard(path: Path) -> tuple[Provenance, torch.Tensor]:
    """A shard's provenance and its tokens, (n,) int32 over the mapped file, which nothing may write to.

    Raises TextError for a file that is no shard.
    """
    try:
        table = ipc.open_file(pa.memory_map(str(path), "r")).read_all()
        said = json.loads((table.schema.metadata or {})[_KEY])
        if said["format"] != FORMAT:
            raise KeyError(said["format"])
        said["files"] = tuple(tuple(one) for one in said["files"])
        provenance = Provenance(**said)
    except (OSError, pa.ArrowInvalid, KeyError, TypeError, ValueError) as error:
        raise TextError(f"{path.name} is not a shard.", way_out="Remove it and stage the texts again.") from error
    chunks = table.column("tokens").chunks
    return provenance, from_dlpack(chunks[0].flatten()) if chunks else torch.zeros(0, dtype=torch.int32)


def _stage_text(
    text: TextConfig, folder: Path, model: BaseModel, progress: ProgressCallback | None
) -> tuple[Shard, ...]:
    files = _files(text)
    contents = [_read(file, text.name) for file in files]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    known = [_known(_file(folder, text.name, split)) for split in SPLITS]
    wanted = (digest, model.card.name, model.card.vocabulary, text.held_out)
    if all(one and (one.digest, one.model, one.vocabulary, one.held_out) == wanted for one in known):
        return tuple(_shard(one, fresh=False) for one in known if one)
    joined = "\n\n".join(_decoded(content, file) for content, file in zip(contents, files, strict=True))
    tokens = _encode(joined, model, text.name, progress)
    cut = len(tokens) - int(len(tokens) * text.held_out)
    root = text.path if text.path.is_dir() else text.path.parent
    names = tuple((file.relative_to(root).as_posix(), one) for file, one in zip(files, digests, strict=True))
    shards = []
    for split, first, stop in zip(SPLITS, (0, cut), (cut, len(tokens)), strict=True):
        whole = (stop - first) // BLOCK * BLOCK
        provenance = Provenance(
            text.name, split, model.card.name, model.card.vocabulary, text.held_out, digest, names,
            first, whole, stop - first - whole,
        )  # fmt: skip
        _write(_file(folder, text.name, split), provenance, tokens[first : first + whole])
        shards.append(_shard(provenance, fresh=True))
    if not any(shard.tokens for shard in shards):
        raise TextError(f"{text.name} has {len(tokens)} tokens, less than a block of {BLOCK}.", way_out="Leave it out.")
    return tuple(shards)


def _encode(text: str, model: BaseModel, name: str, progress: ProgressCallback | None) -> np.ndarray[Any, Any]:
    """The text's tokens, piece by piece; pieces end at a line break, where tokenisers break too."""
    pieces: list[list[int]] = []
    place = 0
    while place < len(text):
        if progress is not None:
            progress(place, len(text), f"encoding {name}")
        end = text.rfind("\n", place, place + _PIECE) + 1 if place + _PIECE < len(text) else len(text)
        end = end if end > place else min(len(text), place + _PIECE)
        pieces.append(model.encode(text[place:end]))
        place = end
    return np.concatenate([np.asarray(piece, np.int32) for piece in pieces] or [np.zeros(0, np.int32)])


def _write(path: Path, provenance: Provenance, tokens: np.ndarray[Any, Any]) -> None:
    """One record batch, so that the whole column is one piece of the mapped file; renamed into place."""
    blocks = pa.FixedSizeListArray.from_arrays(pa.array(tokens, pa.int32()), BLOCK)
    schema = pa.schema([pa.field("tokens", blocks.type)], metadata={_KEY: json.dumps(asdict(provenance)).encode()})
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pa.OSFile(str(partial), "wb") as file, ipc.new_file(file, schema) as writer:
            writer.write_batch(pa.record_batch([blocks], schema=schema))
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise TextError(
            f"The shard {path.name} could not be written: {error.strerror or error}.",
            way_out="Make room, or choose another folder.",
        ) from error


def _files(text: TextConfig) -> list[Path]:
    if text.path.is_dir():
        files = sorted(one for one in text.path.rglob("*") if one.suffix in text.suffixes and one.is_file())
        if not files:
            raise TextError(
                f"{text.name}: {text.path} holds no {' or '.join(text.suffixes)} file.",
                way_out="Give another folder, or other suffixes.",
            )
        return files
    return [text.path]


def _read(file: Path, name: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise TextError(f"{name}: {file} cannot be read: {error.strerror}.", way_out="Correct its path.") from error


def _decoded(content: bytes, file: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"{file} is not UTF-8 (byte {error.start}).", way_out="Save it as UTF-8.") from error


def _known(path: Path) -> Provenance | None:
    """What a shard that is there says of itself; None when it is not there or is none."""
    try:
        return read_shard(path)[0]
    except TextError:
        return None


def _file(folder: Path, name: str, split: Split) -> Path:
    return folder / f"{name}.{split}.arrow"


def _shard(provenance: Provenance, *, fresh: bool) -> Shard:
    return Shard(provenance.name, provenance.split, provenance.tokens, provenance.digest, fresh)
