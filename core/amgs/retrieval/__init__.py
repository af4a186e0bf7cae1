"""Retrieval as a waterfall of six layers, a function each (AMGS §6); each can be run alone or switched off."""
