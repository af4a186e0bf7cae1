"""One module for each format: from the bytes of a file to a document."""
