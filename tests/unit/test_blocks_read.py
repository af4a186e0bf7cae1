"""What a reader remembers of the blocks it has read is bounded in bytes and goes with what was changed; token counts
that are remembered are those of the text.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import numpy as np
import pytest

from amgs.derived import block_reader
from amgs.derived.block_reader import BlocksRead
from amgs.identity import block_id
from amgs.storage.blocks import NumberedBlock
from amgs.text import language_model
from amgs.text.language_model import TokenCounter
from amgs.types import Block

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def numbered(number: int, size: int) -> NumberedBlock:
    text = f"{number} ".ljust(size, "x")
    return NumberedBlock(number, Block(block_id(text), text, NOW, NOW, "fact", 1.0, 0.01, "raw"), 0)


def test_blocks_are_remembered_up_to_a_number_of_bytes_the_latest_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_reader, "MOST_BYTES", 100_000)
    read = BlocksRead()
    for number in range(1000):
        read.add(numbered(number, 500))
        assert read.get(0) is not None  # asked for again and again: never given up
    held = list(read._blocks.values())
    assert len(held) > 40
    assert sum(sys.getsizeof(one.block.content) for one in held) < 100_000
    assert read.get(999) is not None
    assert read.get(1) is None


def test_a_remembered_count_is_that_of_the_text_and_holds_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_model, "_COUNTS_KEPT", 4)
    count, fresh = TokenCounter(), TokenCounter()
    if not fresh.name:
        pytest.skip("needs the tokenizer of the packaged model")
    texts = [f"{word} slipped twice before the dome was closed, and nobody noticed it. " * 3 for word in "abcdefé"]
    expected = [fresh._count_encoded(text) for text in texts]
    assert [count(text) for text in texts * 3] == expected * 3
    assert len(count._counts) + len(count._older) <= 8
    assert all(len(key) == 16 for key in count._counts)


def test_all_blocks_are_read_at_once_where_many_are_asked_for_and_all_have_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every, read = np.arange(1000), BlocksRead()
    for number in range(block_reader._MANY):
        assert read.to_read([999, 5000], every) == [999, 5000]
        read.add(numbered(number, 100))
    assert sorted(read.to_read([999, 5000], every)) == [*range(block_reader._MANY, 1000), 5000]
    assert sorted(read.without([1, 3]).to_read([1], np.arange(block_reader._MANY))) == [1]
    for number in range(block_reader._MANY, 1000):
        read.add(numbered(number, 100))
    assert sorted(read.without([1, 3]).to_read([1], every)) == [1, 3]
    monkeypatch.setattr(block_reader, "MOST_BYTES", read._bytes - 1)
    assert read.to_read([5000], every) == [5000]
