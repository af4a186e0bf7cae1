"""Bridges between spans at work: what belongs to something that the window wants is wanted a little itself.

MegaContext, "Granularity & bridges". A scorer around another. Where the lifetime has no bridges, or nothing is wanted,
its scores are the other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.options import OPTIONS
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.scores import Scores, aggregate
from amgs_focus.window.working_context import Entry


class BridgedScorer:
    """Gives a gist a share of the best score among the entries that its spans have bridges to.

    It adds a part `bridge` and goes by the name and version of the scorer inside: what it does besides depends on the
    lifetime and the setting `bridge_share` alone.
    """

    def __init__(self, inner: FocusScorer, share: float) -> None:
        """share: how much of a score crosses a bridge."""
        self.inner = inner
        self._share = share
        self._known = -1
        self._linked = False
        self._current: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> int:
        return self.inner.version

    def score(self, view: LensView) -> Scores:
        found = self.inner.score(view)
        tree = view.tree
        self._look(tree)
        if not self._linked:
            return found
        entries = view.context.entries()
        values = aggregate(view.context, found.values)
        ends = [self._ends(entry, tree) for entry in entries]
        wanted: dict[str, float] = {}
        for (_, targets), value in zip(ends, values, strict=True):
            for key in targets if value > 0 else ():
                wanted[key] = max(wanted.get(key, 0.0), float(value))
        added = np.zeros(len(entries))
        for at, (entry, (keys, _)) in enumerate(zip(entries, ends, strict=True)):
            if entry.level:
                reach = self._share * max((wanted.get(key, 0.0) for key in keys), default=0.0)
                added[at] = min(max(0.0, reach), 1.0 - values[at])
        spread = np.repeat(added, [entry.cost for entry in entries])
        parts = {**found.parts, "bridge": spread}
        return replace(found, values=np.clip(found.values + spread, -1.0, 1.0), parts=parts)

    def _ends(self, entry: Entry, tree: LifetimeTree) -> tuple[frozenset[str], frozenset[str]]:
        """Keys of an entry's spans that are current, and of what these have bridges to."""
        if entry.level > OPTIONS.coarsest_bridge:
            return frozenset(), frozenset()
        about = [tree.catalogue.about(span.start) for span in tree.sources_whole(entry.start, entry.end)]
        live = [one for one in about if one.key and self._current.get(one.path) == one.version]
        return frozenset(one.key for one in live), frozenset(key for one in live for key in one.bridges)

    def _look(self, tree: LifetimeTree) -> None:
        """Whether there are bridges, and which version of each path is the current one."""
        spans = tree.spans()
        if len(spans) != self._known:
            self._known = len(spans)
            self._linked = any(one.bridges for one in tree.catalogue.span_metadata.about.values())
            self._current = tree.catalogue.span_metadata.versions()
