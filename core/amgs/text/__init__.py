"""Reading text: markdown, dates, names, token counts, and the embedding of sentences."""
