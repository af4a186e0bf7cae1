"""Lines and bars around the panes: header, command line, tabs, notices."""
