"""How far the forecasts can be believed (AMGS §7.3)."""
