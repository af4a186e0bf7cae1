"""Pages generated from the program: the manual, the public names, the glossary."""
