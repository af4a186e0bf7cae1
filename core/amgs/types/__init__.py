"""The frozen values that travel between the stages of the memory engine and out to the screen.

Nothing here computes more than a check or a total; every instant is aware and in UTC; every score is in [0, 1].
One file per subject; everybody else imports the names from here, which loads the file of a name with its first use.
"""

from amgs.lazy_names import lazy

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
