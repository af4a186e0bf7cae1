"""Prepare the import of torch: have its threads wait without spinning and open its library, so that the interpreter is
free meanwhile.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

IMPORTING = threading.RLock()
"""Held while a library of models is imported: two threads that import parts of each other's would each get halves."""


def quieten_threads() -> None:
    """Have the threads of torch and NumPy wait for each other without turning in place, which on busy cores takes the
    time of the other thread. Each library reads this once, when it is loaded; what the user has set stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")  # of two, in ticks: .1 ms; 25 otherwise, at each start too


def open_ahead() -> bool:
    """Load the shared library of torch, which takes a fifth of a second or more; whether it was.

    An import does the same with the interpreter held: no other thread runs until the loader is done. A call through
    ctypes lets it go. Where this cannot be done (another system, no torch, loaded already) nothing happens: the import
    that follows does it, or says what is missing.
    """
    quieten_threads()
    if sys.platform != "linux" or "torch" in sys.modules:
        return False
    import ctypes

    with suppress(AttributeError, OSError, ValueError):
        spec = find_spec("torch")
        folders = spec.submodule_search_locations if spec is not None else None
        library = Path(next(iter(folders or ()), "")) / "lib" / "libtorch_cpu.so"
        opens = ctypes.CDLL(None).dlopen
        opens.restype, opens.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
        return library.is_file() and bool(opens(os.fsencode(library), os.RTLD_NOW | os.RTLD_LOCAL))
    return False
