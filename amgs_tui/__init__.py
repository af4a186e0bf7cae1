"""The screen of the workstation: panes, dialogs and keys over the operations of `amgs_app`."""
