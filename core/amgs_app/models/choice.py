"""Choose and load the models; each is loaded once, on first use, and shared by memory and focus.

The only place that decides which real or tiny model implements a Protocol of the engines; also the focus
engine's language model as a writer of texts, for `--strategy abstractive` without a server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amgs.errors import ModelError
from amgs.incoming import lies_there, make_storable, read_text
from amgs_app.places.folders import checkpoint_folder, model_cache

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.text.embedding import Embedder
    from amgs.text.entities import EntityRecogniser
    from amgs.text.language_model import CountTokens
    from amgs.types import Block, Frame, Progress
    from amgs_app.settings import ModelSettings, WorkstationSettings
    from amgs_focus.gist import GistEncoder
    from amgs_focus.model.base_model import BaseModel
    from amgs_focus.options import SearchOptions, TextEncoder
    from amgs_focus.records import Segment
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.settings import FocusSettings
    from amgs_focus.trace.trace import TraceWriter
    from amgs_focus.tree.gist_tree import LifetimeTree


TINY = "tiny"


def text_models(
    spec: str, settings: ModelSettings, loaded: Callable[[], BaseModel | None]
) -> tuple[Embedder, EntityRecogniser, CountTokens]:
    """Return sentence encoder, entity recogniser and token counter; each loads what it needs on first use.

    "tiny" means hashing encoder, rules and approximate counts: no model files, the same results everywhere. Budgets do
    not use the tiny model's byte tokenizer, so that its frames are as long as with a real model.
    """
    if spec == TINY:
        from amgs.text.embedding import HashingEmbedder
        from amgs.text.entities import RuleRecogniser
        from amgs.text.language_model import approximate_tokens

        return HashingEmbedder(), RuleRecogniser(), approximate_tokens
    from amgs.text.embedders import choose_embedder
    from amgs.text.entities import SpacyRecogniser
    from amgs.text.language_model import TokenCounter

    return choose_embedder(settings.embedder), SpacyRecogniser(settings.recogniser), TokenCounter(spec, loaded)


def choose_text_models(
    spec: str, settings: ModelSettings, loaded: Callable[[], BaseModel | None]
) -> tuple[Embedder, EntityRecogniser, CountTokens]:
    """Return the text models of a session, with substitutes where a model is neither named nor installed.

    Without the sentence encoder a memory is searched by words only; without spaCy's model, rules find names.
    """
    embedder, recogniser, count_tokens = text_models(spec, settings, loaded)
    if spec == TINY:
        return embedder, recogniser, count_tokens
    from amgs.text import entities, minilm

    if not settings.embedder and not minilm.available():
        from amgs.text.embedding import HashingEmbedder

        embedder = HashingEmbedder()
    if not settings.recogniser and not entities.available():
        from amgs.text.entities import RuleRecogniser

        recogniser = RuleRecogniser()
    return embedder, recogniser, count_tokens


def text_encoder(spec: str, embedder: Embedder) -> TextEncoder | None:
    """Return the sentence encoder for the focus engine; None if it is only the substitute."""
    from amgs.text.embedding import HashingEmbedder

    return None if spec != TINY and isinstance(embedder, HashingEmbedder) else embedder


def require_model(spec: str) -> None:
    """Raise ModelError if the named model cannot be found; loads nothing."""
    if spec in (TINY, "smollm2") or lies_there(Path(spec)):
        return
    if spec.count("/") == 1:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        with suppress(HFValidationError):
            if any(isinstance(try_to_load_from_cache(spec, name), str) for name in ("config.json", "tokenizer.json")):
                return
    raise ModelError(
        f"There is no model {spec!r}.",
        title="Model not found",
        way_out="Give smollm2, tiny, the path of a model, or the hub id of a model that is in the local cache.",
    )


def load_base_model(
    spec: str, precision: str, cache: Path | None = None, *, device: str = "cpu", adapter: str = ""
) -> BaseModel:
    """Load the frozen language model; raises FocusError (ModelMissingError, ModelMismatchError, CheckpointError).

    cache: folder for unpacked GGUF files; None to unpack each time. adapter: file of a LoRA adapter.
    """
    from amgs.text.torch_library import IMPORTING, open_ahead

    with IMPORTING:
        open_ahead()
        if spec == TINY:
            from amgs_focus.model.tiny import TinyModel

            return TinyModel()
        from amgs_focus.model.loading import load

        model = load(spec, precision=precision, device=device, cache=cache)
    if adapter:
        from amgs_focus.model.adapter import load_adapter

        load_adapter(model, Path(adapter).expanduser())
    return model


def gist_encoder(model: BaseModel, settings: ModelSettings, own: Path | None = None) -> GistEncoder:
    """Return the gist encoder that the settings name, else the latest for the model in the folder `own` or shipped.

    Raises CheckpointError for an invalid file, or a file trained on another model.
    """
    from amgs_focus.gist import find_gist_encoder, load_checkpoint

    if not settings.gists:
        return find_gist_encoder(model, own=own)
    return load_checkpoint(Path(settings.gists).expanduser(), model)


def focus_runtime(
    model: BaseModel,
    settings: FocusSettings,
    seed: int,
    clock: Clock,
    trace: Path | None = None,
    *,
    gist: GistEncoder | None = None,
    tree: LifetimeTree | None = None,
    tree_folder: Path | None = None,
    checkpoints: Path | None = None,
    encoder: TextEncoder | None = None,
    search_options: SearchOptions | None = None,
) -> tuple[FocusRuntime, TraceWriter]:
    """Return an empty focus engine over the model, and the writer of its trace.

    gist: encoder to use instead of the shipped encoder. tree: a lifetime to continue, with its own gists; tree_folder:
    its folder. trace: file for the events, None to keep them in memory; the caller closes the writer. checkpoints:
    folder of the user's own. encoder: finds blocks by a question's meaning, with search_options. Raises TraceError.
    """
    from amgs_focus.gist import find_gist_encoder
    from amgs_focus.lens import lensnet
    from amgs_focus.lens.question_search import QuestionSearch
    from amgs_focus.lens.scoring import BridgedScorer
    from amgs_focus.runtime.replay import header_of
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.trace.trace import TraceWriter

    chosen = settings.model_copy(update={"seed": seed})
    scorer = BridgedScorer(lensnet.find_scorer(model, chosen.lens, checkpoints), chosen.bridge_share)
    gist = gist or find_gist_encoder(model, own=checkpoints)
    search = None if encoder is None else QuestionSearch(encoder, search_options)
    silent = FocusRuntime(model, gist, scorer, chosen, clock=clock, tree=tree, search=search)
    writer = TraceWriter(trace, header_of(silent, created=clock.now().isoformat(), folder=str(tree_folder or "")))
    tree = silent.tree
    runtime = FocusRuntime(model, tree.gist, scorer, chosen, writer, clock=clock, tree=tree, search=search)
    return runtime, writer


def segments_of_frame(frame: Frame) -> tuple[Segment, ...]:
    """Return the frame's text span by span, each with its block; joined they are the whole text."""
    from amgs_focus.records import Segment

    known = {candidate.block.id: candidate.block for candidate in frame.candidates}
    return tuple(
        Segment(frame.text[span.start : span.end], source=span.block_id, meta=_about(known.get(span.block_id or "")))
        for span in frame.spans
        if span.end > span.start
    )


def segments_of_blocks(blocks: Iterable[Block]) -> tuple[Segment, ...]:
    """Return blocks as segments of a lifetime, a paragraph each."""
    from amgs_focus.records import Segment

    return tuple(Segment(f"{block.content}\n\n", source=block.id, meta=_about(block)) for block in blocks)


def _about(block: Block | None) -> dict[str, str]:
    """Return a block's metadata for the lifetime: title, category, source, time and confidence."""
    if block is None:
        return {"label": ""}
    return {
        "label": block.title,
        "domain": block.category or "",
        "path": str(block.meta.get("source", "")),
        "time": block.created_at.isoformat(),
        "trust": f"{block.confidence:g}",
    }


def segments_of_files(files: Sequence[Path]) -> tuple[Segment, ...]:
    """Return text files as segments of a lifetime; raises InputError for an unreadable file."""
    from amgs_focus.records import Segment
    from amgs_focus.tree.corpus import LANGUAGES

    return tuple(
        Segment(
            f"{read_text(file, 'Give a text file in UTF-8.')}\n\n",
            meta={"label": file.name, "path": str(file), "language": LANGUAGES.get(file.suffix.lower(), "text")},
        )
        for file in files
    )


class LoadedModels:
    """The models of a session, loaded on first use.

    settings: returns the settings; not called before a model is needed. spec: base model to use instead of theirs.
    """

    def __init__(self, settings: Callable[[], WorkstationSettings], spec: str | None) -> None:
        self._settings = settings
        self._given = spec
        self._lock = threading.RLock()
        self._texts: tuple[Embedder, EntityRecogniser, CountTokens] | None = None
        self._base: BaseModel | None = None

    @property
    def spec(self) -> str:
        """The base model: an id, a path, or `tiny`."""
        return self._given or self._settings().model.base

    @property
    def checkpoints(self) -> Path:
        """Folder of the user's own checkpoints; it need not exist."""
        return checkpoint_folder(self._settings().paths)

    @property
    def base_is_loaded(self) -> bool:
        return self._base is not None

    @property
    def are_shipped(self) -> bool:
        """Return whether texts are read by the models that ship with the program, and these are installed."""
        from amgs.text import entities, minilm

        model_settings = self._settings().model
        others = self.spec == TINY or model_settings.embedder or model_settings.recogniser
        return not others and minilm.available() and entities.available()

    def base(self, progress: Progress | None = None) -> BaseModel:
        """Load the base model on first use and return it; raises FocusError (ModelMissingError) if it is not found."""
        with self._lock:
            if self._base is None:
                if progress is not None:
                    progress(0, 1, f"loading {self.spec}")
                settings = self._settings()
                model_settings, cache = settings.model, model_cache(settings.paths)
                self._base = load_base_model(
                    self.spec,
                    model_settings.precision,
                    cache,
                    device=model_settings.device,
                    adapter=model_settings.adapter,
                )
                if progress is not None:
                    progress(1, 1, f"loaded {self._base.card.name}")
            return self._base

    def release_base(self) -> None:
        """Drop the base model."""
        with self._lock:
            self._base = None

    def gist(self, progress: Progress | None = None) -> GistEncoder:
        """Return the gist encoder that the settings choose for the base model."""
        return gist_encoder(self.base(progress), self._settings().model, self.checkpoints)

    def texts(self) -> tuple[Embedder, EntityRecogniser, CountTokens]:
        """Return sentence encoder, entity recogniser and token counter."""
        if self._texts is None:
            self._texts = choose_text_models(self.spec, self._settings().model, lambda: self._base)
        return self._texts

    def text_encoder(self) -> TextEncoder | None:
        """Return the sentence encoder for the focus engine; None if none is installed."""
        return text_encoder(self.spec, self.texts()[0])


LONGEST: Final = 6_000
"""Characters of a prompt that a small model reads within seconds; the rest is cut off."""


@dataclass(frozen=True)
class LocalModel:
    """Implements `amgs.text.language_model.TextModel`. load: returns the model, loading it on first use."""

    load: Callable[[], BaseModel]
    name: str = "the local model"

    def write(self, prompt: str, most_tokens: int) -> str:
        """Return the model's reply to a prompt, decoded greedily."""
        model = self.load()
        import torch

        from amgs_focus.model.base_model import greedy

        tokens = [*model.sinks(), *model.encode(model.turn(prompt[:LONGEST]))]
        with torch.no_grad():
            rows = model.embed(torch.tensor(tokens, dtype=torch.int64))
        return make_storable(model.decode(list(greedy(model, rows, most_tokens))))
