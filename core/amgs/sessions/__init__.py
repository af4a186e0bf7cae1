"""Agents' session files: a type of turn, a reader per format; nothing is stored."""
