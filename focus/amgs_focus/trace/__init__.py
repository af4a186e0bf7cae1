"""The event-sourced trace: written, read, replayed and compared."""
