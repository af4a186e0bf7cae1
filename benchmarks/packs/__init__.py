"""`packs`: what packs promise, measured; one file a subject."""
