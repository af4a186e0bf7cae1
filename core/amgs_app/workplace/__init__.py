"""The operator's view and arrangement of the memory."""
