"""The memory for agents that speak MCP: seven tools, over stdio and mounted in the server."""
