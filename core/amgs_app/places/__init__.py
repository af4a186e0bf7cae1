"""Where things are on disk: stores, data folders, the corpus, the sample, and a running server's address."""
