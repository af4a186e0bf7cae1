"""Terms in the tables of sessions."""

from __future__ import annotations

from typing import Final

TERMS: Final = (
    ("▼", "A compaction: what stood in the window was dropped, and a summary stands in its place."),
    ("✗", "In the list: results that tell of a failure. Above a session: what went wrong, the worst first."),
    ("↻, again", "How often something was needed again that a compaction had dropped, where there was time to look."),
    ("word for word", "Of what was dropped, what the new window holds as it was said."),
    ("in other words", "What it holds otherwise: a file's name without its folder, a sentence by most of its words."),
    ("gone", "What it does not hold at all."),
    (
        "reopened",
        "A file that the agent had changed or written, and read again after the compaction, as it had left it.",
    ),
    (
        "reread, rerun, searched, repeated",
        "Done again after a compaction; shown beside what is done again elsewhere, and not counted as its price.",
    ),
    ("read again", "A file whose reading showed, for the most part, lines that an earlier one had shown."),
    ("mended at", "The turn at which a step went well that had failed before."),
    ("cache", "The share of what the model read that the provider had kept from the request before."),
)
"""Terms and what they mean."""
