"""How well the engine does, measured: gists, policies, stability, latency and memory."""
