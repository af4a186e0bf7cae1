"""Context frames: defined, registered, scored, selected, composed and assembled (AMGS §4)."""
