"""The working context, and the choice of what to expand and collapse in it."""
