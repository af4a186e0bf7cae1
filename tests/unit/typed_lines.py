"""An operator on the tiny model, and lines as he types them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from amgs_app.session import Operator
from tests.engine.memory_world import NOW


def opened(store: Path | str = ":memory:", **more: Any) -> Operator:
    return Operator(Engine(Options(store=str(store), model="tiny", now=NOW, **more)))


def do(session: Operator, *words: str) -> Any:
    """The result of a line, or of its words, which must be printable as a table and as JSON."""
    call = standard().parse(words[0] if len(words) == 1 else shlex.join(words))
    assert call is not None
    result = session.run(call)
    assert table_of(result).title
    assert to_json(result)
    return result
