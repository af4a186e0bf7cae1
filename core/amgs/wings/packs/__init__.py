"""Packs: frames that are kept under a name, versioned, read again, and judged. `memory.packs`.

Public names are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from amgs.wing_registry import Wing

if TYPE_CHECKING:
    from amgs.wings.packs.api.packs import Packs as Packs
    from amgs.wings.packs.errors import UnknownPackError as UnknownPackError
    from amgs.wings.packs.values import Learning as Learning
    from amgs.wings.packs.values import Pack as Pack
    from amgs.wings.packs.values import PackAssembly as PackAssembly
    from amgs.wings.packs.values import PackContent as PackContent
    from amgs.wings.packs.values import PackDifference as PackDifference
    from amgs.wings.packs.values import PackKept as PackKept
    from amgs.wings.packs.values import PackLearned as PackLearned
    from amgs.wings.packs.values import PackLink as PackLink
    from amgs.wings.packs.values import PackMember as PackMember
    from amgs.wings.packs.values import PackProposal as PackProposal
    from amgs.wings.packs.values import PackRole as PackRole
    from amgs.wings.packs.values import PackRoute as PackRoute
    from amgs.wings.packs.values import PackStage as PackStage
    from amgs.wings.packs.values import PackStageChange as PackStageChange
    from amgs.wings.packs.values import PackText as PackText
    from amgs.wings.packs.values import PackUsage as PackUsage
    from amgs.wings.packs.values import PackUse as PackUse
    from amgs.wings.packs.values import PackWeight as PackWeight
    from amgs.wings.packs.values import PackWeights as PackWeights
    from amgs.wings.packs.values import RoutedPack as RoutedPack

WING: Final = Wing(
    about="Frames that are kept under a name, versioned, read again, and judged.",
    part="amgs.wings.packs.api.packs:Packs",
    calls="PacksCalls",
    requests="amgs.wings.packs.requests:REQUESTS",
)
"""What the memory and its clients gain."""

_HOMES = {
    "amgs.wings.packs.api.packs": ("Packs",),
    "amgs.wings.packs.errors": ("UnknownPackError",),
    "amgs.wings.packs.values": (
        "Learning",
        "Pack",
        "PackAssembly",
        "PackContent",
        "PackDifference",
        "PackKept",
        "PackLearned",
        "PackLink",
        "PackMember",
        "PackProposal",
        "PackRole",
        "PackRoute",
        "PackStage",
        "PackStageChange",
        "PackText",
        "PackUsage",
        "PackUse",
        "PackWeight",
        "PackWeights",
        "RoutedPack",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
