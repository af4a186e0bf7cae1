"""Damaged lifetime folders: a check names each fault, opening refuses, nothing hangs, and a refused folder keeps
its bytes.

`make explore` draws hundreds anew; what they find becomes an example below.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from amgs_app.shell.output import as_text
from amgs_app.terminal.output import UNSAFE
from amgs_focus.errors import CtxError
from amgs_focus.gist import PointerEncoder
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import ModelCard, NodeRef, SpanAbout, Tag
from amgs_focus.tree.check import LifetimeCheck, check
from amgs_focus.tree.ctx_file import FP16, HEADER_BYTES, CtxHeader
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.journal import JOURNAL
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.retention import act_of
from tests.focus.focus_world import MODEL
from tests.safety.hostile.draws import Draws, everything_in, patience

BLOCK = 4
LOCK = ("lock",)
SEEN_WITH_A_MODEL = ("was written for", "missing gists", "cannot hold values", "make no rows", "takes rows of")
"""Words of refusals that need the model, or another version of it, to be noticed."""

Damage = Callable[[Path, random.Random], str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lifetime with everything in it: spans, metadata, tags, use, and what was forgotten and purged."""
    folder = tmp_path_factory.mktemp("lifetime") / "whole"
    tree = opened(folder)
    letters = [97 + number % 26 for number in range(150)]
    tree.append(letters[:70], source="block-1")
    tree.append(letters[70:101], source="block-2")
    tree.append(letters[101:], kind="generated")
    tree.catalogue.describe({0: SpanAbout(domain="code", path="a.py", trust=0.5, bridges=("b.py#x",))})
    tree.catalogue.tag(Tag(8, 16, "keep", "2026-03-01", "operator"))
    for kind, nodes in (("forget", (2, 3, 4, 5)), ("restore", (5,)), ("purge", (2, 3))):
        chosen = NodeSet.of(NodeRef(1, number) for number in nodes)
        tree.catalogue.act(act_of(tree, kind, chosen, at="2026-03-01", by="operator", why="a test"))  # type: ignore[arg-type]
    tree.catalogue.usage.table(1).add(range(6), "opened", 40)
    tree.catalogue.usage.table(2).measure(1, 0.25)
    tree.close()
    return folder


def opened(folder: Path) -> LifetimeTree:
    return LifetimeTree.open(folder, MODEL, PointerEncoder(), block_size=BLOCK)


def looked_at(folder: Path) -> tuple[LifetimeCheck | None, str]:
    """What the check says, printed as the operator reads it; None where it refuses to look."""
    try:
        found = check(folder)
    except CtxError as error:
        return None, error.message
    return found, as_text(found) + as_text(found, "csv")


def tried(folder: Path) -> str:
    """Check and open a damaged folder; gives why it was not opened, or nothing. Raises for what must not happen."""
    before = everything_in(folder, without=LOCK)
    with patience():
        checked, said = looked_at(folder)
    assert UNSAFE.search(said) is None
    assert everything_in(folder, without=LOCK) == before, "the check changed the folder"
    with patience():
        try:
            tree = opened(folder)
        except CtxError as error:
            assert everything_in(folder, without=LOCK) == before, f"refused, and changed: {error.message}"
            if not any(words in error.message for words in SEEN_WITH_A_MODEL):
                assert checked is None or not checked.ok, f"the check did not see: {error.message}"
            return error.message
        try:
            list(tree.tokens(0, tree.length))
            tree.catalogue.usage.table(1).rows(0, 10)
            for span in tree.spans():
                tree.catalogue.about(span.start)
                tree.catalogue.span_metadata.tags_on(span.start, span.end)
        finally:
            tree.close()
    return ""


# --- damages ----------------------------------------------------------------------------------------------


def a_file(folder: Path, rng: random.Random) -> Path:
    return rng.choice(sorted(path for path in folder.iterdir() if path.name != "lock"))


def flips_bytes(folder: Path, rng: random.Random) -> str:
    path = a_file(folder, rng)
    raw = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 8, 64))):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    path.write_bytes(raw)
    return path.name


def cuts(folder: Path, rng: random.Random) -> str:
    path = a_file(folder, rng)
    os.truncate(path, rng.choice((0, 1, rng.randrange(path.stat().st_size + 1))))
    return path.name


def adds_garbage(folder: Path, rng: random.Random) -> str:
    path = a_file(folder, rng)
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.choice((1, 100, 5000))) + rng.choice((b"", b"\n")))
    return path.name


def zeroes(folder: Path, rng: random.Random) -> str:
    path = a_file(folder, rng)
    size = path.stat().st_size
    start = rng.randrange(size)
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes(min(size - start, rng.choice((4, 64, 4096)))))
    return path.name


def removes(folder: Path, rng: random.Random) -> str:
    path = a_file(folder, rng)
    path.unlink()
    return path.name


def puts_something_else(folder: Path, rng: random.Random) -> str:
    path = rng.choice((a_file(folder, rng), folder / "lock", folder / "L9.use", folder / "L4.ctx"))
    path.unlink(missing_ok=True)
    kind = rng.choice(("folder", "pipe", "broken link", "loop", "device"))
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"broken link": "nowhere", "loop": path.name, "device": "/dev/zero"}[kind])
    return f"{path.name} {kind}"


def strays(folder: Path, rng: random.Random) -> str:
    name = rng.choice(
        ("Lnotes.ctx", "L.ctx", "L-1.ctx", "L².ctx", "L007.ctx", f"L{'9' * 100}.ctx", "L99.ctx", "L1.ctx.new")
    )
    shutil.copy(folder / "L1.ctx", folder / name)
    return name


def rewrites_a_header(folder: Path, rng: random.Random) -> str:
    """A header of other values with a checksum that fits."""
    path = rng.choice(sorted(folder.glob("L*.ctx")))
    raw = bytearray(path.read_bytes())
    struct_at: dict[str, tuple[int, str, list[Any]]] = {
        "version": (4, "<H", [0, 2, 65535]),
        "level": (6, "<H", [0, 1, 7, 65535]),
        "block": (8, "<H", [0, 1, 32, 65535]),
        "width": (10, "<H", [0, 1, 65535]),
        "dtype": (12, "<H", [0, 1, 2, 9]),
        "model": (14, "<32s", [b"\x1b[31mtiny\x1b]0;owned\x07", b"\xff" * 32, b""]),
        "count": (46, "<Q", [0, 3, 1 << 20, (1 << 64) - 1]),
        "gist": (54, "<I", [7, (1 << 32) - 1]),
    }
    name = rng.choice(sorted(struct_at))
    at, form, values = struct_at[name]
    struct.pack_into(form, raw, at, rng.choice(values))
    raw[58:62] = bytes(4)
    raw[58:62] = struct.pack("<I", zlib.crc32(bytes(raw[:HEADER_BYTES])))
    path.write_bytes(raw)
    return f"{path.name} {name}"


def rewrites_tokens(folder: Path, rng: random.Random) -> str:
    raw = bytearray((folder / "L0.ctx").read_bytes())
    place = HEADER_BYTES + 4 * rng.randrange((len(raw) - HEADER_BYTES) // 4)
    struct.pack_into("<I", raw, place, rng.choice((MODEL.card.vocabulary, (1 << 32) - 1)))
    (folder / "L0.ctx").write_bytes(raw)
    return "L0.ctx"


VALUES: tuple[Any, ...] = (
    None, -1, 0, 3, 10**6, 10**30, 1.5, float("nan"), True, "", "7", "\x1b[31m", "x" * 5000, [], [[]], [-1], {},
    {"a": 1}, [[1, 2, 3]], [[10**9, 0, 10**9]], [[1, 0, 10**15]], "\ud800", [10**9, 97],
)  # fmt: skip


def rewrites_a_line(folder: Path, rng: random.Random) -> str:
    """One value somewhere in one line of the journal is another."""
    lines = (folder / JOURNAL).read_text().splitlines()
    number = rng.randrange(len(lines))
    line = json.loads(lines[number])
    here: Any = line
    place: Any = rng.choice(sorted(here))
    while isinstance(here[place], (dict, list)) and here[place] and rng.random() < 0.6:
        here = here[place]
        place = rng.choice(sorted(here) if isinstance(here, dict) else range(len(here)))
    deed = rng.choice(("change", "change", "change", "remove", "add"))
    if deed == "remove":
        del here[place]
    elif deed == "add" and isinstance(here, dict):
        here["more"] = rng.choice(VALUES)
    else:
        here[place] = rng.choice(VALUES)
    lines[number] = json.dumps(line)
    (folder / JOURNAL).write_text("\n".join(lines) + "\n")
    return f"line {number + 1}: {lines[number][:200]}"


def moves_lines(folder: Path, rng: random.Random) -> str:
    lines = (folder / JOURNAL).read_text().splitlines()
    number = rng.randrange(len(lines))
    deed = rng.choice(("drop", "double", "swap", "nest", "word"))
    if deed == "drop":
        del lines[number]
    elif deed == "double":
        lines.insert(number, lines[number])
    elif deed == "swap":
        rng.shuffle(lines)
    else:
        lines.insert(number, {"nest": "[" * 100_000, "word": rng.choice(('"act"', "17", "[]", "null"))}[deed])
    (folder / JOURNAL).write_text("\n".join(lines) + "\n")
    return f"line {number + 1} {deed}"


DAMAGES: tuple[Damage, ...] = (
    flips_bytes, cuts, adds_garbage, zeroes, removes, puts_something_else, puts_something_else, strays,
    rewrites_a_header, rewrites_tokens, rewrites_a_line, rewrites_a_line, rewrites_a_line, moves_lines,
)  # fmt: skip


@pytest.mark.hostile
def test_a_damaged_lifetime_is_named_and_refused_and_keeps_its_bytes(whole: Path, tmp_path: Path, draws: Draws) -> None:
    refused = 0
    for number in range(draws.count):
        seed = f"{draws.seed}/{number}"
        rng = random.Random(seed)
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        damage = rng.choice(DAMAGES)
        told = damage(folder, rng)
        try:
            refused += bool(tried(folder))
        except BaseException as error:
            raise AssertionError(f"draw {seed}, {damage.__name__}: {told}") from error
        shutil.rmtree(folder)
    print(f"{draws.count} damaged lifetimes, {refused} refused")  # noqa: T201
    assert refused > draws.count / 4


# --- what was found ---------------------------------------------------------------------------------------


def journal_with(line: dict[str, Any] | str) -> Callable[[Path], None]:
    """The journal with one more line at its end."""

    def damage(folder: Path) -> None:
        with (folder / JOURNAL).open("a") as file:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")

    return damage


def in_the_place_of(name: str, kind: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if kind == "folder":
            (folder / name).mkdir()
        elif kind == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("nowhere")

    return damage


def with_byte(name: str, at: int) -> Callable[[Path], None]:
    """One byte of a file is another, which says something else and nothing impossible."""

    def damage(folder: Path) -> None:
        raw = bytearray((folder / name).read_bytes())
        raw[at] ^= 1
        (folder / name).write_bytes(raw)

    return damage


def without_lines(first: int) -> Callable[[Path], None]:
    """The journal ends before a line, as if nothing had come after it."""

    def damage(folder: Path) -> None:
        lines = (folder / JOURNAL).read_text().splitlines(keepends=True)
        (folder / JOURNAL).write_text("".join(lines[:first]))

    return damage


FOUND: dict[str, tuple[Callable[[Path], None], str]] = {
    **{
        f"{name} is a {kind}": (in_the_place_of(name, kind), name)
        for name in (JOURNAL, "L0.ctx", "L1.ctx", "L1.use")
        for kind in ("folder", "pipe", "broken link")
    },
    "a line nested too deep": (journal_with("[" * 100_000), JOURNAL),
    "a token out of the vocabulary": (
        journal_with({"start": 150, "end": 151, "source": None, "open": [10**6, 98, 99]}),
        JOURNAL,
    ),
    "a negative token": (journal_with({"start": 150, "end": 151, "source": None, "open": [-1, 9, 9]}), JOURNAL),
    "a negative span": (journal_with({"start": -5, "end": 3, "source": None, "open": [98, 99]}), JOURNAL),
    "a tag that is a number": (journal_with({"tag": {"start": 0, "end": 4, "word": 7, "at": "", "by": ""}}), JOURNAL),
    "another token": (with_byte("L0.ctx", HEADER_BYTES + 4 * 37), "L0.ctx"),
    "another source": (with_byte(JOURNAL, -400), JOURNAL),
    "an emptied journal": (without_lines(0), JOURNAL),
    "a journal that lost its last lines": (without_lines(3), JOURNAL),
    "an act of a level that no lifetime has": (journal_with({"sealed": [[10**9, 0, 5]]}), JOURNAL),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_damage_that_was_unseen_or_ended_in_a_traceback(name: str, whole: Path, tmp_path: Path) -> None:
    damage, says = FOUND[name]
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    damage(folder)
    assert tried(folder)
    found = check(folder)
    assert [file.name for file in found.faults] == [says]


def small_lifetime(folder: Path) -> list[int]:
    """A lifetime with vectors and nothing purged; its tokens."""
    tree = opened(folder)
    tree.append([97 + number % 26 for number in range(90)], source="block-1")
    tree._store.begin_vectors("an encoder", 8).append(np.ones((22, 8), np.float16))
    tokens = [int(token) for token in tree.tokens(0, tree.length)]
    tree.close()
    return tokens


def test_gists_that_are_not_what_was_written_are_refused_when_they_are_read_and_made_anew(tmp_path: Path) -> None:
    tokens = small_lifetime(tmp_path)
    whole = opened(tmp_path)
    gists = whole.gists(1, 0, 22)
    whole.close()
    raw = (tmp_path / "L1.ctx").read_bytes()
    (tmp_path / "L1.ctx").write_bytes(raw[:HEADER_BYTES] + b"\xff" * (len(raw) - HEADER_BYTES))
    assert [file.name for file in check(tmp_path).faults] == ["L1.ctx"]
    tree = opened(tmp_path)
    with pytest.raises(CtxError, match="not what was written") as caught:
        tree.gists(1, 0, 1)
    tree.close()
    assert caught.value.exit_code == 4 and caught.value.way_out
    assert check(tmp_path, mend=True).ok and check(tmp_path).ok
    tree = opened(tmp_path)
    assert torch.equal(tree.gists(1, 0, 22), gists)
    assert [int(token) for token in tree.tokens(0, tree.length)] == tokens
    tree.close()


@pytest.mark.parametrize("name", ["L0.ctx", JOURNAL, "vectors.ctx"])
def test_what_is_not_as_it_was_written_can_be_gone_on_with(name: str, tmp_path: Path) -> None:
    length = len(small_lifetime(tmp_path))
    source = (tmp_path / JOURNAL).read_bytes().index(b"block-1")
    with_byte(name, HEADER_BYTES + 40 if name.endswith(".ctx") else source)(tmp_path)
    assert [file.name for file in check(tmp_path).faults] == [name]
    assert check(tmp_path, mend=True).ok
    tree = opened(tmp_path)
    assert tree.length == length
    tree.append([97, 98, 99], source="block-2")
    tree.close()
    assert check(tmp_path).ok and not any(file.unsummed for file in check(tmp_path).files)


def test_an_emptied_journal_goes_when_it_is_mended_and_the_tokens_stay(tmp_path: Path) -> None:
    tokens = small_lifetime(tmp_path)
    os.truncate(tmp_path / JOURNAL, 0)
    assert check(tmp_path, mend=True).ok
    tree = opened(tmp_path)
    assert [int(token) for token in tree.tokens(0, tree.length)] == tokens[:88]  # the open block stood in the journal
    tree.close()
    assert check(tmp_path).ok


def test_a_lifetime_of_an_earlier_version_has_no_checksums_until_the_next_append(tmp_path: Path) -> None:
    small_lifetime(tmp_path)
    for sums in tmp_path.glob("*.sums"):
        sums.unlink()
    found = check(tmp_path)
    assert found.ok
    assert {file.name for file in found.files if file.unsummed} == {path.name for path in tmp_path.glob("*.ctx")}
    assert "No checksums yet: L0.ctx" in as_text(found)
    tree = opened(tmp_path)
    tree.append([97 + number % 26 for number in range(64)], source="block-2")
    tree.close()
    assert not any(file.unsummed for file in check(tmp_path).files if file.name.startswith("L"))
    with_byte("L0.ctx", HEADER_BYTES + 8)(tmp_path)
    assert [file.name for file in check(tmp_path).faults] == ["L0.ctx"]


@pytest.mark.parametrize("stray", ["Lnotes.ctx", "L.ctx", "L².ctx"])
def test_a_stray_file_is_named_and_hinders_nobody(stray: str, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    shutil.copy(folder / "L1.ctx", folder / stray)
    assert tried(folder) == ""
    assert [file.name for file in check(folder).faults] == [stray]


def test_a_model_name_with_control_characters_is_written_out(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    for path in folder.glob("L*.ctx"):
        raw = bytearray(path.read_bytes())
        struct.pack_into("<32s", raw, 14, b"\x1b[31mtiny\x07")
        raw[58:62] = bytes(4)
        raw[58:62] = struct.pack("<I", zlib.crc32(bytes(raw[:HEADER_BYTES])))
        path.write_bytes(raw)
    assert "written for" in tried(folder)
    assert "\\x1b[31mtiny" in as_text(check(folder))


class Large(TinyModel):
    """A model whose embeddings are as wide as those of the largest."""

    @property
    def card(self) -> ModelCard:
        return replace(super().card, width=65_536)


def test_rows_too_wide_for_the_header_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    from amgs_focus.tree.files import FolderStore

    with pytest.raises(CtxError, match="65,535"):
        CtxHeader(1, 32, 8192 * 8, FP16, "large")
    with pytest.raises(CtxError, match="65,536"):
        FolderStore(tmp_path / "new", Large(), block_size=32, gist_version=1)
    assert not (tmp_path / "new").exists()
