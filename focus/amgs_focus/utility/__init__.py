"""Counterfactual ΔNLL: what detail is worth, measured."""
