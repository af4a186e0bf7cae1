"""The panes: their names and arrangement, and which rows of a list each shows, in what order."""
