"""What is said wherever a model without trained gists is at work."""

UNTRAINED = "no trained gists exist for this model"
WARNING = (
    "No trained gists exist for this model: spans are held by pointer gists, which lose nearly everything but their "
    "last token. Train some (focus train gistnet), or put a checkpoint into the folder of [paths] checkpoints."
)
