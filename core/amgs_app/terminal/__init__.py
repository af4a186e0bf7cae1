"""The terminal: the words of a line, safe output, colours, exit codes."""
