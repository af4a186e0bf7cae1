"""What is typed at a terminal and what is safe to write to it: words, names, text, colours, exit codes."""
