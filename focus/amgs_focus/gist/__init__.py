"""From 32 entries to one: the pointer gist and GistNet."""
