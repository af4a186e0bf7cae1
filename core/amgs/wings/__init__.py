"""Wings: what a memory can do beside its kernel, a folder each. A wing imports the kernel and no other wing; the kernel
finds wings by their names, in `amgs.wing_registry`.
"""
