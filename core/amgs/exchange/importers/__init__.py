"""Importers for exports of other memories and chat programs, as drafts of blocks; one module per format."""
