"""Wings: optional abilities of a memory, one folder each. A wing imports the kernel and no other wing; the kernel finds
wings by name, in `amgs.wing_registry`.
"""
