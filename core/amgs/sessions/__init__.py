"""Agents' session files: one type of turn, one reader per format; nothing is stored."""
