"""Frame definitions: what a frame is, as data (AMGS §4, §5.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

from amgs.clock import as_utc, parse_instant
from amgs.types import COMPONENTS, BlockFilter, ChildFrame, FrameDefinition, SelectionRule, Weights


def encode(definition: FrameDefinition) -> dict[str, Any]:
    """A definition as JSON knows it; `decode` gives an equal one back."""
    plain = {f.name: getattr(definition, f.name) for f in fields(definition)}
    return {
        **plain,
        "weights": json.loads(encode_weights(definition.weights)),
        "rule": encode_rule(definition.rule),
        "children": [[child.name, child.share] for child in definition.children],
        "rescore": None if definition.rescore is None else json.loads(encode_weights(definition.rescore)),
    }


def decode(data: Mapping[str, Any]) -> FrameDefinition:
    """The definition that `encode` wrote."""
    given = dict(data)
    given["weights"] = Weights(**given["weights"])
    given["rule"] = decode_rule(given["rule"])
    given["children"] = tuple(ChildFrame(str(name), float(share)) for name, share in given["children"])
    given["rescore"] = None if given["rescore"] is None else Weights(**given["rescore"])
    return FrameDefinition(**given)


def encode_weights(weights: Weights) -> str:
    """Weights as JSON text, their names sorted."""
    return json.dumps({name: getattr(weights, name) for name in COMPONENTS}, sort_keys=True)


_ADDED = {"order": "weights"}
"""Fields of a rule that older versions do not have, with what they are where they are not written: a definition that an
older version wrote is encoded as it was, and known as the one that shipped then.
"""

_OF_A_REQUEST = frozenset({"current", "as_of"})
"""What a request adds to a filter: no definition holds it."""


def encode_rule(rule: SelectionRule) -> dict[str, Any]:
    """A rule as JSON knows it; `decode_rule` gives an equal one back."""
    plain = {f.name: getattr(rule, f.name) for f in fields(rule) if f.name != "filter"}
    plain = {name: value for name, value in plain.items() if name not in _ADDED or value != _ADDED[name]}
    wanted = {
        f.name: getattr(rule.filter, f.name) for f in fields(rule.filter) if f.name not in _OF_A_REQUEST
    }
    wanted["meta"] = dict(rule.filter.meta)
    for name in ("since", "until", "reinforced_since"):
        wanted[name] = None if wanted[name] is None else as_utc(wanted[name]).isoformat()
    return {**plain, "filter": wanted}


def decode_rule(data: Mapping[str, Any]) -> SelectionRule:
    """The rule that `encode_rule` wrote."""
    wanted = dict(data["filter"])
    for name in ("since", "until", "reinforced_since"):
        wanted[name] = None if wanted[name] is None else parse_instant(wanted[name])
    wanted["statuses"] = tuple(wanted["statuses"])
    wanted["categories"] = None if wanted["categories"] is None else tuple(wanted["categories"])
    return SelectionRule(**{**data, "filter": BlockFilter(**wanted)})


class FrameStorage(Protocol):
    """The registered definitions."""

    def put(self, definitions: Sequence[FrameDefinition]) -> None:
        """Write definitions, in place of those with the same names; the caller has checked for cycles."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Take definitions out."""
        ...

    def everything(self) -> tuple[FrameDefinition, ...]:
        """All registered definitions by name."""
        ...
