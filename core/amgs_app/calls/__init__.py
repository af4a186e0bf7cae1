"""What an operation is, and how a line, a form or JSON becomes a call of one; knows no operation of the program."""
