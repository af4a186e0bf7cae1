"""The program's terms, each with a single meaning; the in-app glossary, the help of panes and docs/glossary.md are
generated from them.
"""

from __future__ import annotations

from typing import Final

from amgs.wing_registry import load_named
from amgs_app.wing_views import views

Words = tuple[tuple[str, str], ...]
"""Terms and what they mean."""

TERMS: Final[Words] = (
    (
        "block",
        "The unit that is stored: a note, a section of a note, or a turn of dialogue, under the hash of its text.",
    ),
    ("raw", "Of a block: ingested, not consolidated yet."),
    ("inbox", "The raw blocks."),
    ("ingest", "Take texts in as raw blocks, from files, folders or the command line."),
    ("consolidate", "Turn raw blocks into memory: category, embedding, entities, edges, decay profile."),
    ("category", "What kind of knowledge a block is (decision, task, person …). It suggests the decay profile."),
    ("edge", "A typed link between two blocks, with a weight and a confidence. Its strength decays too."),
    ("relevance", "1 when a block was last used, halved with every half-life since. A part of every score."),
    ("decay profile", "How fast relevance halves: pinned (never), core, durable, standard, ephemeral."),
    ("threshold", "The relevance (0.05) below which a block counts as faded. It stays in the memory and can be found."),
    ("use, reinforcement", "The block proved useful, or a model held it open: its relevance is 1 again."),
    ("prune", "Archive blocks that are faded, peripheral, unused and low-confidence. Only on command."),
    (
        "archive",
        "Take a block out of retrieval but keep it. `undo` and `block set --status consolidated` bring it back.",
    ),
    ("frame", "An assembled context: the blocks chosen for a question within a budget of tokens, as one text."),
    ("assembly", "One logged run that assembled a frame; `frame why` explains it."),
    ("candidate", "A block that was considered for a frame. Its fate says whether it is in, or why it is out."),
    ("score", "The weighted sum of recency, centrality, confidence, similarity and reinforcement, from 0 to 1."),
    ("confidence", "How far a block, an edge or a category can be trusted, from 0 to 1."),
    ("forecast", "The score of a selected block, read as the probability that it will prove useful."),
    ("verdict, outcome", "Your judgement of a forecast: useful or useless."),
    ("Brier score", "Mean squared difference of forecast and outcome: 0 is perfect, always saying 0.5 gives 0.25."),
    ("lifetime", "Everything that an opened model has read and written so far, whether it fits the window or not."),
    ("window", "The positions that the model reads at once. The working context is what they hold."),
    ("span", "A stretch of the lifetime that the window holds as tokens or as one gist."),
    ("gist", "The vector that stands for a span that is not held as tokens."),
    ("level", "How coarse a span is held: 0 as tokens, 1 as one gist for 32, 2 as one for 1,024."),
    ("refocus", "The step in which spans are expanded and collapsed, every few tokens."),
    ("expand, collapse", "Hold a span in finer, or in coarser, detail."),
    ("pin", "Of a block: it never decays. Of a span: it keeps its detail."),
    ("branch", "Another continuation of a decoded text, from a point in its past."),
    ("command", "What you type after `:` or in a shell. Most keys run a command."),
    ("journal", "The list of changes. Each can be undone."),
    ("selection", "The block that every pane shows."),
)
"""Terms used everywhere."""

SCREEN: Final[dict[str, Words]] = {
    "inbox": (
        ("tok", "Tokens of the block, as the model counts them."),
        ("draft", "What consolidation would do, block by block, before it is done."),
        ("corrected", "What you changed of the proposal; what is left out stays in the inbox."),
        ("belief", "The confidence that the block will start with."),
        ("weight × confidence", "Of a proposed edge: how close the blocks are, and how sure the link is."),
    ),
    "frame": (
        (
            "waterfall",
            "The layers of retrieval: blocks in, blocks out, how many were new with the layer, milliseconds.",
        ),
        ("ledger", "The budget: how many tokens each child frame could use, and used."),
        ("child", "A frame that is a part of this frame, with its own weights and share of the budget."),
        ("fate", "Why the candidate is in or out: selected, over budget, duplicate, below the least score …"),
        ("recency", "The decayed relevance of the block, a part of its score."),
        ("centrality", "How well connected the block is in the graph."),
        ("similarity", "How well the block answers the question: words, meaning and neighbours."),
        ("reinforcement", "How often the block proved useful."),
    ),
    "graph": (
        ("wgt, cnf", "Weight and confidence of an edge, each from 0 to 1."),
        ("strength", "Weight × confidence, decayed since the edge was last used."),
        ("rank", "PageRank of the block: how much the graph points at it."),
        ("firm, fading, faint", "Strength of at least 0.3, at least 0.1, less."),
        ("hop", "One step along an edge."),
        ("degr, eigen, betw", "Degree, eigenvector and betweenness centrality."),
        ("island", "Blocks that are connected with each other and with no other block."),
    ),
    "decay": (
        ("now → then", "Relevance today, and on the day that the scrubber points at."),
        ("uses, useful", "How often a frame selected the block, and how often it was judged useful."),
        ("links", "Edges that lead to the block."),
        ("½", "The half-life: the time in which relevance halves."),
        ("drops below", "From then on the block ranks lower. Nothing is removed before `prune`."),
        ("x", "The curve that the block would have with the previewed decay profile."),
    ),
    "calibration": (
        ("forecast", "The score of a selected block, read as the probability that it will prove useful."),
        ("bin", "Forecasts of about the same value, taken together."),
        ("reliability", "How far the forecasts of a bin are from the outcomes; 0 is best."),
        ("resolution", "How far the bins differ from the average; more is better."),
        ("uncertainty", "What no forecast could know: how mixed the outcomes are."),
    ),
    "focus": (
        ("lifetime", "Everything the model has read and written so far, whether it fits the window or not."),
        ("window", "How many positions the model reads at once, and how many of them are taken."),
        (
            "gist",
            "One vector that stands for a passage while it is not read word for word: 32 tokens, or 1,024, or more.",
        ),
        ("refocus", "Every few tokens passages are opened and closed, for what the text at hand needs."),
        ("word for word", "The passage is in the window as its tokens. The latest text always is."),
        ("read anew", "Positions the model has to compute again because something before them changed."),
        ("changed a refocus", "Passages opened or closed in a refocus, per passage outside the latest text; a mean."),
        ("unchanged for", "For how many refocuses the passages have stayed at their level, on average."),
        ("score, heat", "From −1 to +1: above 0 a passage asks to be read word for word, below 0 to be closed."),
        ("nats", "How much likelier a word is: 1 nat is 2.7 times."),
    ),
    "overview": (
        ("✓ ◆ ✗ ·", "Well; worth a look; needs attention; nothing known yet."),
        ("relevance", "The mean relevance of all consolidated blocks."),
        ("schema, change", "The version of the store's layout, and how many changes it has seen."),
        ("Brier", "The Brier score of your verdicts: 0 is perfect, the goal is below 0.15."),
        ("refocus in", "Tokens until spans are expanded and collapsed again."),
        ("journal", "The changes, the latest first, each with its number, its age and what it did."),
    ),
    "conversation": (
        ("█ kept", "The message goes to the model word for word."),
        ("▓ digested", "A few of its sentences go."),
        ("▒ masked", "One line with its handle stands for it."),
        ("· dropped", "It is left out; a line with a handle marks the gap."),
        ("▚ differ", "A cell of the strip whose messages have different fates."),
        ("handle", "`#12` or `#12-15`: names messages, and brings them back."),
        ("tokens, sent", "Tokens of the original messages, and of what is sent in their place."),
        ("worth", "From 0 to 1: how likely the best message of the span is to be needed for the question."),
        ("ledger", "What each stage took from the tokens and added to them; each row continues from the last."),
    ),
    **{name: load_named(view.terms) for name, view in views().items() if view.terms},
}
"""Terms in each pane's figure."""


def table(words: Words, head: str = "word") -> str:
    """Return the terms as a Markdown table."""
    lines = [f"| {head} | what it means |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in words)]
    return "\n".join(lines) + "\n"
