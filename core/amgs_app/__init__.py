"""Use of both engines without a screen: operations, rendering, command line, shell and scripts."""

from __future__ import annotations

__version__ = "0.2.0"
