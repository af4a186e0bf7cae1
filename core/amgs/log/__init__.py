"""What happened, as rows: the journal of changes, reinforcements, forecasts and what came of them."""
