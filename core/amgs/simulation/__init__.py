"""Monte Carlo: what a change, a pruning, time, a new block or noise will come to, by simulation (AMGS §7.6).

Nothing here writes. Every simulation is a function of its seed.
"""
