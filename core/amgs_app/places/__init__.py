"""Where things lie on disk: stores, folders of data, the corpus and the sample, and the address of a server."""
