"""The quick tokenizer counts as the model's own, which takes seconds to be read."""

from __future__ import annotations

import random
import string

import pytest

from amgs.text.language_model import find_tokenizer
from amgs_app.places.corpus import sample_corpus
from amgs_focus.model.loading import find_packaged_file


@pytest.mark.real
def test_the_quick_tokenizer_counts_as_the_models_own() -> None:
    file, quick = find_packaged_file(), find_tokenizer("smollm2")
    if file is None or quick is None:
        pytest.skip("the packaged SmolLM2 is not installed")
    from transformers import AutoTokenizer

    slow = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name, local_files_only=True)
    draws = random.Random(7)
    signs = string.printable + "äéß—…’日本\u200d🙂"
    texts = ["".join(draws.choices(signs, k=80)) for _ in range(200)]
    texts += [path.read_text(encoding="utf-8") for path in sorted(sample_corpus().path.rglob("*.md"))]
    for text in texts:
        assert quick.encode(text, add_special_tokens=False).ids == slow.encode(text, add_special_tokens=False)
