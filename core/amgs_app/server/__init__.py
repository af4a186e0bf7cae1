"""The HTTP service: a single process opens the stores, and other programs use them while an operator watches."""
