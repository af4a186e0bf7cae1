"""The frozen language models, real and tiny, and what is put on them."""
