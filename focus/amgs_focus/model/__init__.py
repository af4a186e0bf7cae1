"""The frozen language models, pretrained and tiny, and adapters on them."""
