"""A gateway between an agent and its model: it records the conversation and keeps what is sent within a
token budget.
"""
