"""Every operator action, once: a registry, the language of a line, and one file per noun."""
