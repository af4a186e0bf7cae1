"""Operations (typed functions that every front end offers), and the parsing of a line, form or JSON into a call of an
operation.
"""
