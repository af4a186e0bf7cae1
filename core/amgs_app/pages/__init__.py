"""Pages of HTML that stand alone: a memory or a diagnosis in tables and charts."""
