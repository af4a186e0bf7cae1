"""Trainings of what the memory engine ships with; the only rooms beside the focus engine that import torch."""
