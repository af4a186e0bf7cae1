"""Small documents in the shapes that other memories and chat programs export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_ALL: dict[str, Any] = json.loads((Path(__file__).parent / "samples" / "foreign.json").read_text(encoding="utf-8"))
ANTHROPIC = _ALL.pop("anthropic")
CHATGPT, CLAUDE, MCP, MEM0, OPENAI = _ALL.values()
SAMPLES = _ALL
"""One document of each format, by the format's name."""
