"""Turn results into tables, sentences and figures; the same code serves the screen, the command line and snapshots."""
