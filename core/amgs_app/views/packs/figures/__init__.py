"""The pictures of packs: the list, what a question is given, what is proposed."""
