"""Describe a node's origin and storage: provenance, metadata, tags, use, and whether it was forgotten."""

from __future__ import annotations

import hashlib

from amgs_focus.records import NodeProvenance, NodeRef, SpanProvenance
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.metadata_store import overlapping

MOST = 16  # spans listed of a coarse gist


def node_provenance(tree: LifetimeTree, node: NodeRef) -> NodeProvenance:
    """Return how a node is kept; of a block of tokens the use and the gist are those of the gist above it."""
    start, end = tree.span(node)
    catalogue = tree.catalogue
    spans = [
        SpanProvenance(span, catalogue.about(whole.start), tree.length - whole.end)
        for span, whole in zip(tree.sources(start, end), tree.sources_whole(start, end), strict=True)
    ]
    version = tree.gist_version(max(1, node.level)) if tree.depth else 0
    lines = [f"{tree.gist.name}|{version}|{start}|{end}"]
    lines += [f"{origin.span}|{origin.about.path}|{origin.about.section}|{origin.about.version}" for origin in spans]
    return NodeProvenance(
        provenance=hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16],
        gist_version=version,
        spans=tuple(spans[:MOST]),
        span_count=len(spans),
        tags=catalogue.span_metadata.tags_on(start, end),
        use=catalogue.usage.of(node),
        forgotten=tree.is_sealed(node),
        purged=sum(high - low for low, high in overlapping(catalogue.gone(0), start, end)),
    )


def spread_of(tree: LifetimeTree, start: int, end: int, most: int = 256) -> float:
    """Return how much the level-1 gists of tokens [start, end) differ, of at most the first `most`: their mean squared
    distance to their mean, as a share of their mean square. Near 0 for what repeats itself.
    """
    first, last = start // tree.block_size, min(-(-end // tree.block_size), tree.count(1))
    if last - first < 2:
        return 0.0
    rows = tree.gists(1, first, min(last, first + most))
    return float(rows.var(dim=0, correction=0).sum() / rows.square().sum(dim=1).mean().clamp_min(1e-12))
