"""The `amgs` command line around the operations: its options, its ways to work, and the commands that stay."""
