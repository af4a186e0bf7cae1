"""Trainings for the memory engine; beside the focus engine, these modules alone import torch."""
