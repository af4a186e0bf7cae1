"""The service: one process owns the stores, and other programs use them over HTTP while an operator watches."""
