"""One person's view of an engine: selection, last list, draft, panes, history and layout; and the drafts saved
between sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from amgs.errors import StoreLockedError, UsageError
from amgs_app.panes.layout import Layout, PaneState
from amgs_app.places.folders import Target
from amgs_app.places.paths import write_whole
from amgs_app.terminal.themes import theme_folders

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import ItemEdit, PlanDraft
    from amgs.types import Frame, Progress, SearchResult
    from amgs_app.calls.call import Call
    from amgs_app.engine import Engine
    from amgs_app.panes.layout import Pane
    from amgs_app.terminal.themes import Palette


_ENDING: Final = ".drafts"


def keep_drafts(engine: Engine, edits: tuple[ItemEdit, ...]) -> None:
    """Save corrections for the next session; without any, delete the file. A disk error is ignored.

    The plan that they correct is computed again, since the inbox may have changed.
    """
    path = engine.beside_store(_ENDING)
    if path is None:
        return
    with suppress(OSError):
        if not edits:
            path.unlink(missing_ok=True)
            return
        from amgs import wire

        write_whole(path, wire.dumps((edits, ())).decode())  # corrections of edges stood second once


def read_drafts(engine: Engine) -> tuple[ItemEdit, ...]:
    """Read the corrections of an earlier session; empty for a missing or unreadable file. Corrections to blocks that
    have left the inbox are dropped.
    """
    path = engine.beside_store(_ENDING)
    if path is None or not path.exists():
        return ()
    from amgs import wire
    from amgs.errors import AmgsError
    from amgs.lifecycle.plan_editing import ItemEdit

    with suppress(OSError, ValueError, TypeError, AmgsError):
        edits, _ = wire.loads(path.read_text(encoding="utf-8"))
        return tuple(edit for edit in edits if isinstance(edit, ItemEdit) and _waits(engine, edit.block_id))
    return ()


def _waits(engine: Engine, block_id: str) -> bool:
    """Return whether the block is still in the inbox (raw)."""
    from amgs.errors import UnknownBlockError

    try:
        return engine.block(block_id).status == "raw"
    except UnknownBlockError:
        return False


R = TypeVar("R")

_STATE: Final = ("selection", "last_frame", "draft", "layout", "_theme")
"""Attributes that operations read and change, copied to and from a remote operator."""


class Operator:
    """One client of an engine, and what it shows.

    selection: id of the block that every pane shows. listed: block ids of the last list, which `@2` refers to.
    last_search, last_frame: what later operations continue from. keeps_drafts: save the draft for the next session.
    panes: what each pane shows; pane: the pane shown last. history: the calls that ran, oldest first; recorded_from:
    index in it at which recording began, None while not recording. layout: how the panes are arranged. snapshots: where
    `snapshot` writes.

    It replaces what a call leaves open (the selected block, `@2`) by ids before the operation runs, so that a recorded
    line is complete and a replay does the same.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.selection: str | None = None
        self.last_search: SearchResult | None = None
        self.last_frame: Frame | None = None
        self.draft: PlanDraft | None = None
        self.keeps_drafts = False
        self.pane: Pane = "overview"
        self.panes: dict[Pane, PaneState] = {}
        self.history: list[Call[Any]] = []
        self.recorded_from: int | None = None
        self.layout = Layout()
        self.snapshots = Target()
        self._theme = engine.options.theme
        self._listed: tuple[str, ...] = ()
        self._own = threading.local()
        self._looked: Call[Any] | None = None

    def close(self) -> None:
        """Close the engine; what the panes showed stays readable."""
        self.engine.close()

    def __enter__(self) -> Operator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take_up_drafts(self) -> tuple[ItemEdit, ...]:
        """Load the corrections saved by an earlier session into the draft, and save this session's from now on."""
        self.keeps_drafts = True
        left = read_drafts(self.engine)
        if left:
            from amgs.lifecycle.plan_editing import PlanDraft
            from amgs.types import ConsolidationPlan

            self.draft = PlanDraft(ConsolidationPlan((), self.engine.clock.now(), 0), left)
        return left

    def join(self) -> bool:
        """Connect to the process that has the store open, if it accepts connections; return whether it did."""
        joined = None if self.engine.join is None else self.engine.join()
        if joined is None:
            return False
        self.engine.close()
        self.engine = joined
        return True

    def state(self) -> dict[str, Any]:
        """Return the attributes that operations read and change, by name."""
        return {name: getattr(self, name) for name in _STATE}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Set the attributes that `state` returned elsewhere."""
        for name in _STATE:
            if name in state:
                setattr(self, name, state[name])

    # --- carrying out ---------------------------------------------------------------------------------------

    def run(self, call: Call[R], progress: Progress | None = None) -> R:
        """Resolve a call, run it and record it in the history and its pane.

        Raises what the engines raise, and UsageError if `@2` or the selection names no block.
        """
        resolved = self.resolve(call)
        result = self.carry_out(resolved, progress)
        self.history.append(resolved)
        self._looked = None
        if call.operation.pane is not None:
            self.pane = call.operation.pane
            self.panes[self.pane] = PaneState(call.line(), result)
        return result

    def look(self, call: Call[R], progress: Progress | None = None) -> R:
        """Run a call that the screen makes by itself.

        It is not recorded and does not change the last list, unless it created a new frame, search or draft that later
        commands continue from.
        """
        resolved = self.resolve(call)
        past = (self.last_frame, self.last_search, self.draft)
        with self._looking(), self.engine.looking():
            result = self.carry_out(resolved, progress)
        now = (self.last_frame, self.last_search, self.draft)
        outputs = (result, getattr(result, "frame", None))  # what changed otherwise, another thread did
        changed = [state for before, state in zip(past, now, strict=True) if state is not before]
        if any(state is output for state in changed for output in outputs):
            if self._looked is not None and self._looked.operation.name == call.operation.name:
                self.history.pop()  # a look replaces the previous look
            self._looked = resolved
            self.history.append(resolved)
        return result

    def look_at(self, line: str) -> Any:
        """Run a command line and return its result, without recording anything."""
        from amgs_app.calls.registry import standard

        call = standard().parse(line)
        return None if call is None else call.run(self)

    def carry_out(self, call: Call[R], progress: Progress | None = None) -> R:
        """Run a resolved call, and keep what later calls refer to: the last list, frame or search, and the saved draft.

        Connects to the process that has the store open if it is locked, and deletes a store that was created for a call
        that failed.
        """
        draft = self.draft
        begins = call.operation.creates and not call.arguments.get("dry_run") and self.engine.lacks_memory
        self.engine.creates |= begins
        changes = call.operation.writes and not call.operation.logs
        self.engine.reads_at_least |= call.right == "read" or not changes
        try:
            result = call.run(self, progress)
        except StoreLockedError:
            if not self.join():
                raise
            result = call.run(self, progress)
        except BaseException:
            if begins:  # what was to go into it was refused
                self.engine.discard()
                self.engine.creates = False
            raise
        if self.keeps_drafts and self.draft is not draft:
            keep_drafts(self.engine, () if self.draft is None else self.draft.edits)
        listed = call.operation.list_ids(result)
        if listed is not None:
            self.listed = listed
        if call.operation.keeps == "search":
            self.last_search = result  # type: ignore[assignment]
        elif call.operation.keeps == "frame":
            frame: Any = getattr(result, "frame", result)
            self.last_frame = frame or self.last_frame
        return result

    def resolve(self, call: Call[R]) -> Call[R]:
        """Return the call with the selected block and `@2` replaced by block ids.

        Raises UsageError if the last list is shorter. A missing selection stays None; the engine refuses it.
        """
        values: dict[str, Any] = {}
        for parameter in call.operation.parameters:
            if parameter.takes != "block":
                continue
            value = call.arguments.get(parameter.name, parameter.default)
            if value is None and not parameter.is_option:
                values[parameter.name] = self.selection
            elif isinstance(value, str) and value.startswith("@"):
                values[parameter.name] = self._resolve_reference(value)
            elif isinstance(value, list) and any(word.startswith("@") for word in value):
                values[parameter.name] = [
                    self._resolve_reference(word) if word.startswith("@") else word for word in value
                ]
        return call.having(**values) if values else call

    def _resolve_reference(self, reference: str) -> str:
        """Return the block id that `@2` names; raises UsageError if the last list is shorter."""
        number = reference[1:]
        if not number.isdecimal() or not 1 <= int(number) <= len(self.listed):
            count = "1 block" if len(self.listed) == 1 else f"{len(self.listed)} blocks"
            raise UsageError(
                f"{reference} is not among the {count} of the last list.",
                way_out="Search, find or assemble first; @1 is the first block of the last list.",
            )
        return self.listed[int(number) - 1]

    @property
    def listed(self) -> tuple[str, ...]:
        """Block ids of the last list."""
        own: tuple[str, ...] | None = getattr(self._own, "listed", None)
        return self._listed if own is None else own

    @listed.setter
    def listed(self, ids: tuple[str, ...]) -> None:
        if getattr(self._own, "listed", None) is None:
            self._listed = ids
        else:
            self._own.listed = ids

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Keep this thread's lists to itself while the block runs, so that the screen's own requests
        leave `@1` alone.
        """
        self._own.listed = self._listed
        try:
            yield
        finally:
            self._own.listed = None

    @property
    def theme_name(self) -> str | None:
        """Name of the chosen palette, else that of the layout, else that of the settings; None for the default."""
        return self._theme or self.layout.theme or self.engine.settings.screen.theme or None

    @theme_name.setter
    def theme_name(self, name: str | None) -> None:
        self._theme = name

    @property
    def palette(self) -> Palette:
        """The current palette; raises UsageError for an unknown name, with the theme files that could not be read."""
        from amgs_app.terminal.themes import explain, load_all

        palettes, problems = load_all(theme_folders())
        name = self.theme_name
        if name is None:
            return next(iter(palettes.values()))
        if name not in palettes:
            skipped = f"\n{explain(problems)}" if problems else ""
            raise UsageError(f"There is no theme {name!r}.", way_out=f"Available: {', '.join(palettes)}.{skipped}")
        return palettes[name]
