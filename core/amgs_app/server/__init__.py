"""The HTTP service: one process opens the stores, and other programs use them while an operator watches."""
