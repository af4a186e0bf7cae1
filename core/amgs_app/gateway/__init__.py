"""A gateway between an agent and its model: it remembers the conversation and keeps what is sent within a budget."""
