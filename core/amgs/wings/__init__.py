"""Wings: optional abilities of a memory, a folder each. A wing imports the kernel and no other wing; the kernel finds
wings by name, in `amgs.wing_registry`.
"""
