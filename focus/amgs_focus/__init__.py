"""The working-context engine: a frozen language model reads a lifetime of any length through a window of fixed size.

`FocusRuntime` is the loop; `LifetimeTree` holds the text, `WorkingContext` is what the model reads, `FocusScorer`
scores where detail is wanted. Names are imported on first use, so that importing the package does not load torch.
`__init__.pyi` lists them with their modules.
"""

import importlib
import os
import re
from pathlib import Path
from typing import Any

# Torch's threads spin while they wait for each other, which on busy cores takes time from the thread waited for.
# Spin less. Set it before torch is loaded; the user's own value stays. The memory engine does the same.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

_HOME_OF = {
    name: module
    for module, name in re.findall(
        r"^from (\S+) import (\w+) as \2$", Path(__file__).with_suffix(".pyi").read_text("utf-8"), re.MULTILINE
    )
}

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
