"""Find the persons meant in a conversation: I, you and we by who speaks to whom, he, she and they by earlier names.

What is resolved stands beside the text with a confidence and never replaces a word of it.
"""
