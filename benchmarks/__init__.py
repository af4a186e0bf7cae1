"""Benches: what the program promises, measured. Each is a module with a `BENCH`, its name and goals, and a function
`run(rig, …) -> BenchResult`; `python -m benchmarks NAME` finds it in `benchmarks.commands`.
"""

from __future__ import annotations

from amgs_app.render import catalogue

catalogue.include("benchmarks.commands.tables")  # how a result is shown, wherever it is
