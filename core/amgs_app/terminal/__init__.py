"""Handle terminal input and safe output: words, names, text, colours, exit codes."""
