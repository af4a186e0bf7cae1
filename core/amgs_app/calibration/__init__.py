"""Forecasts, calibration, tuning and metrics."""
