"""What words of messages mean: found when they are taken in, and kept beside the text, which stays as it was said."""
