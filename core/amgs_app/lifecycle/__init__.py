"""Ingestion, consolidation, pruning and repair of a memory."""
