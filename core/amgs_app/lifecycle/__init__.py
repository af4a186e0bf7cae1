"""What comes in, is consolidated and cared for."""
