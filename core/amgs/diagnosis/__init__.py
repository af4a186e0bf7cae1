"""Why an answer missed a fact, and what would have brought it in."""
