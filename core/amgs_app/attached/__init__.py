"""A memory that is served elsewhere, used as if it were here: operations and questions go over the wire."""
