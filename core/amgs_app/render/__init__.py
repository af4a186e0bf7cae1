"""How results are shown: tables, sentences and figures, the same on the screen and without one."""
