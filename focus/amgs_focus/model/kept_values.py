"""Values that are a function of their key, such as a block's gist: kept in the process, so that what was opened once
opens again at once. They belong to a model or an encoder and go with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

MOST = 16_384
"""Values of an owner that are kept; the oldest go first."""

_KEPT: WeakKeyDictionary[Any, OrderedDict[Hashable, Any]] = WeakKeyDictionary()


def values_of(owner: object, keys: Sequence[Hashable], make: Callable[[list[int]], Iterable[Any]]) -> list[Any]:
    """Return the value of each key, in order. make: computes those at some places, which are not kept yet."""
    cache = _KEPT.setdefault(owner, OrderedDict())
    known = {key: cache[key] for key in keys if key in cache}
    missing = [at for at, key in enumerate(keys) if key not in known]
    known |= {keys[at]: value for at, value in zip(missing, make(missing) if missing else (), strict=True)}
    cache |= known
    while len(cache) > MOST:
        cache.popitem(last=False)
    return [known[key] for key in keys]


def value_of(owner: object, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the value of one key."""
    return values_of(owner, [key], lambda _: [make()])[0]
