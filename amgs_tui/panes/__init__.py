"""The panes: what each shows, and its keys. A wing's pane is a folder of its own."""
