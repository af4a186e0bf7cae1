"""Retrieval as a waterfall of six layers, one file each (AMGS §6); each can be run alone or switched off."""
