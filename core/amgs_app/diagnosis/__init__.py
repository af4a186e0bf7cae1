"""Diagnosis of answers that missed a fact; questions as tests."""
