"""The focus commands: a model's working context (the window of tokens and gists that it reads) and its lifetime (all
its tokens).
"""
