"""The memory behind the interfaces of agent frameworks, each in a module and an extra of its own."""
