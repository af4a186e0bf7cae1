"""Workers: what is long is computed outside of any transaction, by as many processes as there are, and written once.

`worker.py` claims tasks and ends them; a file a kind says what a task reads, computes and writes; `executors.py` has
the processes that compute.
"""

from amgs.workers.executors import Computing, computing, processes
from amgs.workers.worker import LEASE, Worker

__all__ = ["LEASE", "Computing", "Worker", "computing", "processes"]
