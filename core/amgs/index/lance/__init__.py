"""The search tier outside the process: Lance datasets on disk or in an object store, each version built whole."""
