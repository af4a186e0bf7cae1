"""Reading a runtime's context as its history says: through its cache, and slowly, by the definition."""

from __future__ import annotations

import torch

from amgs_focus.model.base_model import Layers
from amgs_focus.runtime.prefix import PrefixReading, ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.tree.gist_tree import LifetimeTree
from tests.focus.focus_world import MODEL


def next_reads(runtime: FocusRuntime) -> ReadHistory:
    """The history once the present context is read."""
    every = runtime.reader.every(runtime.settings.full_read_every)
    return runtime.state.reads.after(runtime.context, runtime.tree.generation, every)


def read_now(runtime: FocusRuntime) -> PrefixReading:
    return runtime.reader.read(next_reads(runtime), runtime.tree)


def recomputed(runtime: FocusRuntime) -> torch.Tensor:
    """Logits after the present context by the definition of a history, one position at a time: the slow twin."""
    return slow_logits(next_reads(runtime), runtime.tree)


def slow_logits(history: ReadHistory, tree: LifetimeTree) -> torch.Tensor:
    kept: dict[int, tuple[int, Layers]] = {}
    for context in history.contexts:
        cache, now = MODEL.new_cache(), dict[int, tuple[int, Layers]]()
        rows = context.embeddings(tree, 0, context.read)
        hidden = rows
        for place, code in enumerate(context.codes().tolist()):
            if code in kept and place < context.read - 1:
                at, layers = kept[code]
                by = torch.tensor([place - at])
                layers = [(MODEL.rotate_keys(keys, by), values) for keys, values in layers]
                pairs = zip(MODEL.layers_of(cache) or layers, layers, strict=True)
                whole = layers
                if cache.length:
                    whole = [(torch.cat([k, key], 2), torch.cat([v, value], 2)) for (k, v), (key, value) in pairs]
                cache = MODEL.cache_of(whole)
            else:
                hidden = MODEL.forward(rows[None, place : place + 1], cache)[0]
            now[code] = (place, [(keys[:, :, -1:], values[:, :, -1:]) for keys, values in MODEL.layers_of(cache)])
        kept = now
    return MODEL.logits(hidden[-1:])[0]
