"""Why an answer missed a fact; questions kept as tests."""
