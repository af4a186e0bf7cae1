"""The store: one DuckDB file behind small functions, one file per table family.

No SQL anywhere else (AMGS §5).
"""
