"""Find the records of a tree that a user abandoned by going back and saying something else."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class RecordNode:
    """A record of the tree.

    parent: its id, "" for none. what: words of the user, inserted words, output of the model or a tool, or other.
    request: of the model's answer.
    """

    parent: str
    what: Literal["said", "put in", "answer", "other"]
    request: str = ""

    @property
    def is_prompt(self) -> bool:
        """Return whether it contains words to the model."""
        return self.what in ("said", "put in")


def way_back(nodes: Mapping[str, RecordNode], last: str) -> dict[str, None]:
    """Return the ids from a record back to the first, over records of all kinds."""
    way: dict[str, None] = {}
    while last in nodes and last not in way:
        way[last] = None
        last = nodes[last].parent
    return way


def find_abandoned_records(nodes: Mapping[str, RecordNode], last: str) -> Set[str]:
    """Return the ids of records on abandoned branches.

    A branch is abandoned if, from the answer where it begins, or from the beginning, the way to the last record
    continues with other words to the model. Results of parallel calls are on branches that are not abandoned, nor is
    anything below a record that the file lacks.
    """
    path = way_back(nodes, last)
    asked = {_answer_above(nodes, id) for id in path if nodes[id].is_prompt}
    begun = [*path][-1:]
    anew = any(not nodes[id].parent and nodes[id].what == "said" for id in begun)
    heads: dict[str, str] = {}
    for id in nodes:
        way: dict[str, None] = {}
        while id in nodes and id not in path and id not in heads and id not in way:
            way[id] = None
            id = nodes[id].parent
        head = heads.get(id, "")
        if way and (id in path or (not id and anew and nodes[[*way][-1]].what == "said")):
            head = [*way][-1]
        heads.update(dict.fromkeys(way, head))
    branches: dict[str, list[str]] = {}
    for id, head in heads.items():
        if head:
            branches.setdefault(head, []).append(id)
    left: set[str] = set()
    for head, ids in branches.items():
        above = _answer_above(nodes, head)
        request = nodes[above].request if above else ""
        own = (nodes[id] for id in ids)
        if above in asked and any(
            node.is_prompt or (node.what == "answer" and node.request not in ("", request)) for node in own
        ):
            left.update(ids)
    return left


def _answer_above(nodes: Mapping[str, RecordNode], id: str) -> str:
    """Return the id of the nearest answer above a record; "" without one."""
    seen: set[str] = set()
    id = nodes[id].parent
    while id in nodes and id not in seen:
        if nodes[id].what == "answer":
            return id
        seen.add(id)
        id = nodes[id].parent
    return ""
