"""Operations, and the conversion of a line, a form or JSON into a call of one; knows no operation of the program."""
