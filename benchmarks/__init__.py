"""Benches: what the program promises, measured. Each is a module with a `BENCH`, its name and goals, and a function
`run(rig, …) -> BenchResult`; the command `bench NAME` stands in `benchmarks.commands.memory`.
"""
