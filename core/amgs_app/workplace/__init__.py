"""The whole memory at a glance, and the operator's tools: arrangement, themes, settings, help, scripts."""
