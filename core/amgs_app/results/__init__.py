"""The frozen results of operations that the engines have no types for."""
