"""What others asked of a service, or sent through the gateway."""
