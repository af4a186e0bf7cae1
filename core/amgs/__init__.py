"""The memory engine: `with amgs.open("notes.duckdb") as memory: …`.

Public names are loaded on first use, so that `import amgs` itself costs next to nothing.
"""

from amgs.lazy_names import lazy

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
