"""The workstation: the only place where the memory engine and the focus engine meet."""

from __future__ import annotations

__version__ = "0.1.0"
