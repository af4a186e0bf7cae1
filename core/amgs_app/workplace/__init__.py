"""What the operator sees and arranges around the memory."""
