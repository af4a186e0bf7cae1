"""What comes from elsewhere is data: no checkpoint, training state, lifetime or model runs code of its own."""

from __future__ import annotations

import ast
import json
import pickle
from pathlib import Path

import pytest
import torch

from amgs_focus.errors import CheckpointError, CtxError, ModelMismatchError, ModelMissingError
from amgs_focus.gist import PointerEncoder
from amgs_focus.model import checkpoint_file, loading
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_training.trainer import saved_step
from tests.focus.focus_world import MODEL
from tests.focus.model_world import write_model

ROOT = Path(__file__).parents[2]


class Touching:
    """What makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self._mark,)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that is there once foreign code ran; the way to tell works."""
    made = tmp_path / "ran"
    pickle.loads(pickle.dumps(Touching(made)))
    assert made.exists()
    made.unlink()
    return made


def test_a_checkpoint_is_no_pickle(tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "gists.safetensors"
    for raw in (pickle.dumps(Touching(mark)), _saved(tmp_path, Touching(mark))):
        path.write_bytes(raw)
        with pytest.raises(CheckpointError, match="cannot be read"):
            checkpoint_file.read(path, "gist checkpoint", "Choose another.")
    assert not mark.exists()


def test_a_training_state_is_read_as_weights_alone(tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "state.pt"
    for raw in (pickle.dumps(Touching(mark), protocol=2), _saved(tmp_path, {"format": 1, "step": Touching(mark)})):
        path.write_bytes(raw)
        with pytest.raises(CheckpointError, match="cannot be read"):
            saved_step(path)
    assert not mark.exists()


def test_a_lifetime_is_no_pickle(tmp_path: Path, mark: Path) -> None:
    folder = tmp_path / "lifetime"
    tree = LifetimeTree.open(folder, MODEL, PointerEncoder(), block_size=4)
    tree.append([97, 98, 99, 100] * 8)
    tree.close()
    for path in [one for one in folder.iterdir() if one.name != "lock" and one.suffix != ".sums"]:
        before = path.read_bytes()
        path.write_bytes(pickle.dumps(Touching(mark)))
        with pytest.raises(CtxError):
            LifetimeTree.open(folder, MODEL, PointerEncoder(), block_size=4).close()
        path.write_bytes(before)
    assert not mark.exists()


def test_code_that_lies_beside_the_weights_of_a_model_does_not_run(tmp_path: Path, mark: Path) -> None:
    folder = write_model(tmp_path / "model")
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    own = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model", "AutoTokenizer": ["own.Words", None]}
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": own, "model_type": "own"}), encoding="utf-8")
    with pytest.raises((ModelMismatchError, ModelMissingError)):
        loading.load(str(folder), precision="fp32")
    assert not mark.exists()


def test_weights_of_a_model_that_are_a_pickle_do_not_run(tmp_path: Path, mark: Path) -> None:
    folder = write_model(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(_saved(tmp_path, {"lm_head.weight": Touching(mark)}))
    with pytest.raises((ModelMismatchError, ModelMissingError)):
        loading.load(str(folder), precision="fp32")
    assert not mark.exists()


def _saved(folder: Path, value: object) -> bytes:
    path = folder / "made.pt"
    torch.save(value, path)
    return path.read_bytes()


UNSAFE = {"pickle.load", "pickle.loads", "marshal.loads", "shelve.open", "torch.load", "yaml.load", "np.load"}
SAFE = {"weights_only=True", "Loader=_texts()", "allow_pickle=False"}
"""What makes a call that could run code one that does not."""


def test_nothing_else_in_the_program_could_run_what_it_reads() -> None:
    paths = [path for package in ("core", "focus", "amgs_tui") for path in (ROOT / package).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(paths)}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path, text in texts.items()
        if any(call in text for call in UNSAFE)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in UNSAFE
        and not any(ast.unparse(each) in SAFE for each in node.keywords)
    ]
    assert len(paths) > 500 and found == []
