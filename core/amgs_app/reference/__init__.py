"""Pages that are written from the program: the manual, the public names, the glossary."""
