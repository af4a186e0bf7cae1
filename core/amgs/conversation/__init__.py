"""The conversation engine: what of a long conversation a model is given for a question, and what became of the rest."""
