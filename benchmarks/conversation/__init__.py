"""`conversation`: what is measured of conversations, one file a subject."""
