"""What an encoder is given of a text with markup: its words."""

from __future__ import annotations

import pytest

from amgs.text.prose import readable


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[![PyPI](https://a.org/b.svg)](https://a.org) Locks a file.", "Locks a file."),
        ("![downloads](https://a.org/d.svg)\n![the dome](dome.png)", "the dome"),
        (".. image:: http://a.org/b.svg\n    :alt: version\n    :target: x\n\nSpreads tests.", "Spreads tests."),
        ("|Logo| |Build-Status|\n\nShows progress.", "Shows progress."),
        ("See [the manual](https://a.org/m), `Streams <https://a.org/s>`__.", "See the manual, Streams."),
        ("[[dome-motor|the motor]] and [[gate]]", "the motor and gate"),
        ('<p align="center">Fast &amp; small</p>', "Fast & small"),
        ("Usage\n=====\n\n| key | does |\n|-----|------|\n| q | quits |", "Usage key does q quits"),
        ("```python\nlock = FileLock(path)\n```", "lock = FileLock(path)"),
        (".. note:: Not on Windows.", "Not on Windows."),
        ("<!-- licence -->\n[^1]: Kept.", "[^1]: Kept."),
    ],
)
def test_markup_is_left_out_and_words_stay(text: str, words: str) -> None:
    assert readable(text).split() == words.split()
