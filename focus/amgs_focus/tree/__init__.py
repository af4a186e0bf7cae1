"""The lifetime context: the gist tree, its files, its journal, and what is known of its spans."""
