"""The store: `protocol.py` says what the engine asks of it, `opening.py` opens one, `duckdb/` keeps it in a file.

One file per subject holds the Protocol of that part and the plain values that go over it; the file of the same name in
a backend carries it out. Nothing above this package knows a backend or writes SQL (AMGS §5).
"""
