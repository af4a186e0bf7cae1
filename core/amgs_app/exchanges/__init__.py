"""Requests of others to a service or through the gateway."""
