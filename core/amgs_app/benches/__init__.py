"""Benches: what the program promises, measured. Each is a module with a `run`, and an operation `bench NAME`.

A bench gives a `frame.BenchResult`; to add one, write its module beside `locomo` and its operation in
`amgs_app.operations.bench`.
"""
