"""What the screen is told of a session that was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path

    from amgs.clock import Clock
    from amgs_app.attached.remote_engine import RemoteEngine
    from amgs_app.session.kept_drafts import KeptDrafts
    from amgs_app.terminal.screen import Symbols


@dataclass(frozen=True, slots=True)
class Opening:
    """A session's clock, and what its settings ask for.

    consolidates: by itself, as soon as it is due. proposes: what may be pruned, likewise. attached: the engine,
    where it is one that is served elsewhere. drafts: corrections that an earlier session left.
    ignored: a line about each retired setting.
    """

    clock: Clock | None = None
    theme: str | None = None
    theme_folders: tuple[Path, ...] = ()
    symbols: Symbols | Literal["auto"] = "auto"
    keys: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    consolidates: bool = False
    proposes: bool = False
    attached: RemoteEngine | None = None
    drafts: KeptDrafts | None = None
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, operator: Any) -> Opening:
        """Read off an Operator; reading the theme reads the settings, which may be wrong."""
        from amgs_app.places.folders import theme_folders
        from amgs_app.session.operator import Operator

        if not isinstance(operator, Operator):
            return cls()
        ignored: list[str] = []
        operator.engine.warn = ignored.append
        settings = operator.engine.settings
        screen, memory = settings.screen, settings.memory
        clock, theme = operator.engine.clock, operator.theme_name
        attached = operator.engine if operator.engine.attached else None
        if attached is not None:
            attached.facts()  # whether anybody answers, and what time it is there
        return cls(
            clock,
            theme,
            theme_folders(),
            screen.symbols,
            screen.keys,
            screen.commands,
            consolidates=memory.consolidation.automatic and attached is None,
            proposes=memory.pruning.interval_hours > 0 and attached is None,
            attached=cast("RemoteEngine | None", attached),
            drafts=operator.take_up_drafts(),
            ignored=tuple(ignored),
        )
