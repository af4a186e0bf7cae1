"""The workstation without a screen: output, scripts, snapshots and the shell."""
