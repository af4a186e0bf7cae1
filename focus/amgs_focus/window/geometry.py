"""Where nodes and the tail lie, as arithmetic on numbers alone."""

from __future__ import annotations

from amgs_focus.records import NodeRef


def span_id(node: NodeRef) -> int:
    """One number for a node, unique over all levels."""
    return (node.level << 48) | node.index


def parent_of(node: NodeRef, block_size: int) -> NodeRef:
    """The gist above a node: of its block alone at level 0, of K siblings above."""
    return NodeRef(node.level + 1, node.index if node.level == 0 else node.index // block_size)


def children_cost(node: NodeRef, block_size: int, slots: int) -> int:
    """Positions that stand for a gist once it is open."""
    return block_size if node.level == 1 else block_size * slots


def tail_start(lifetime: int, block_size: int, tail_blocks: int) -> int:
    """Where the immutable tail begins: `tail_blocks` whole blocks and the open one."""
    return max(0, lifetime - lifetime % block_size - tail_blocks * block_size)
