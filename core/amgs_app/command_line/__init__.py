"""The `amgs` command line around the operations: global options, front ends, and service commands."""
