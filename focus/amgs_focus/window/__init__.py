"""The working context, and what is expanded and collapsed in it."""
