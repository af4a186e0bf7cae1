"""The conversation engine: what of a long conversation a model reads for a question, and what became of the rest."""
