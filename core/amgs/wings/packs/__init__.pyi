"""The public names, each with the module that has it."""

from amgs.wing_registry import Wing
from amgs.wings.packs.api import Packs as Packs
from amgs.wings.packs.store import UnknownPackError as UnknownPackError
from amgs.wings.packs.values import Pack as Pack
from amgs.wings.packs.values import PackAssembly as PackAssembly
from amgs.wings.packs.values import PackContent as PackContent
from amgs.wings.packs.values import PackKept as PackKept
from amgs.wings.packs.values import PackLink as PackLink
from amgs.wings.packs.values import PackMember as PackMember
from amgs.wings.packs.values import PackOutcome as PackOutcome
from amgs.wings.packs.values import PackProposal as PackProposal
from amgs.wings.packs.values import PackRole as PackRole
from amgs.wings.packs.values import PackStage as PackStage
from amgs.wings.packs.values import PackUsage as PackUsage
from amgs.wings.packs.values import PackUse as PackUse
from amgs.wings.packs.values import RoutedPack as RoutedPack

__all__: list[str]
WING: Wing
