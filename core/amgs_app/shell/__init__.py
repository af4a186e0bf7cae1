"""Commands line by line: the prompt, scripts, pipes, and how results and errors leave the program."""
