"""The agents of AMGS §9: clients of a served memory that take in, consolidate, keep fresh, prune and enhance it."""
