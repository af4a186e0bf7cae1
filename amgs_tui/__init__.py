"""The workstation's screen: panes, dialogs and keys for the operations of `amgs_app`."""
