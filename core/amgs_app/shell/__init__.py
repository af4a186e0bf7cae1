"""Run commands line by line: the prompt, scripts and pipes; and print results and errors."""
