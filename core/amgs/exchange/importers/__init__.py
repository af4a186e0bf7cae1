"""Importers for exports of other memories and chat programs, as drafts of blocks; a module for each kind of file."""
