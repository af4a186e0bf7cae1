"""What is told of agents' sessions, measured."""
