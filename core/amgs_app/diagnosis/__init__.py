"""Diagnosis of answers that missed a fact; questions kept as tests."""
