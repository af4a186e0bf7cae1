"""Ingestion, consolidation and care of memories."""
