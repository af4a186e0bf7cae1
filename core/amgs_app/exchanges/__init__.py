"""Requests of clients to a service, and through the gateway."""
