"""The panes, in the order of their keys."""

from __future__ import annotations

from amgs.wing_registry import load_named
from amgs_tui.panes.base import Pane
from amgs_tui.panes.calibration import CalibrationPane
from amgs_tui.panes.conversation import ConversationPane
from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.panes.frame import FramePane
from amgs_tui.panes.graph import GraphPane
from amgs_tui.panes.inbox import InboxPane
from amgs_tui.panes.overview import OverviewPane
from amgs_tui.wing_panes import wing_panes

PANE_TYPES: tuple[type[Pane], ...] = (
    InboxPane,
    FramePane,
    GraphPane,
    DecayPane,
    CalibrationPane,
    FocusPane,
    OverviewPane,
    ConversationPane,
    *(load_named(wing.pane) for wing in wing_panes().values()),
)
