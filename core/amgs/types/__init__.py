"""Immutable values that travel between the stages of the memory engine and to the screen.

They compute no more than checks and sums; all times have a time zone and are in UTC; all scores are in [0, 1]. One file
per subject; import the names from here, which loads a file when any of its names is first used.
"""

from amgs.lazy_names import lazy

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
