"""Forecasts, what came of them, and how far they can be believed (AMGS §7.3)."""
