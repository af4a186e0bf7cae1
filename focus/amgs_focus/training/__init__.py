"""Training of gist encoders, lenses and adapters, and the labels that a lens learns from."""
