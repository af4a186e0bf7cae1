"""The tiny model: a byte tokenizer that loses nothing, and the same text on every machine."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.model.tiny import TinyModel
from tests.focus.focus_world import MODEL


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\n\t")))
def test_text_comes_back(text: str) -> None:
    plain = text.replace("<|", "")
    assert MODEL.decode(MODEL.encode(plain)) == plain


def spoken(model: TinyModel, text: str, count: int = 40) -> str:
    cache = model.new_cache()
    tokens = [*model.sinks(), *model.encode(text)]
    hidden = model.forward(model.embed(torch.tensor([tokens])), cache)
    said = []
    for _ in range(count):
        said.append(int(model.logits(hidden[0, -1:]).argmax()))
        hidden = model.forward(model.embed(torch.tensor([said[-1:]])), cache)
    return model.decode(said)


def test_what_it_says_is_fixed_for_good() -> None:
    assert spoken(MODEL, "The dome stalled in May because") == GOLDEN
    assert spoken(TinyModel(8), "The dome stalled in May because") != GOLDEN


GOLDEN = "hoooooofrsjcyqhqhqyuosomcbzigaujyuuuyoqo"


def test_it_is_causal_and_uses_every_entry() -> None:
    tokens = torch.tensor([[65 + number for number in range(12)]])
    rows = MODEL.embed(tokens)
    base = MODEL.forward(rows)
    for place in range(12):
        changed = rows.clone()
        changed[0, place] = MODEL.embed(torch.tensor(33))
        after = MODEL.forward(changed)
        assert torch.allclose(after[:, :place], base[:, :place])
        assert not torch.allclose(after[:, -1], base[:, -1])
