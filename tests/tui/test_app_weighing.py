"""Weights moved by keys: the sum stays one, the ranking follows at once, nothing is reinforced; and copying."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amgs.types import COMPONENTS, Weights
from amgs_tui.panes.weight_editor import shift_weights
from tests.tui.app_drive import drive
from tests.tui.app_world import World

five = st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda values: sum(values) > 0.01)


def weights(values: list[float]) -> Weights:
    return Weights(*(value / sum(values) for value in values))


@given(five, st.integers(0, 4), st.floats(-1, 1))
@example([0.0, 0.0, 0.0, 0.5, 0.4609375], 3, -1.0)
def test_one_part_moves_the_others_keep_their_proportions_and_the_sum_is_one(
    values: list[float], part: int, by: float
) -> None:
    before = weights(values)
    after = shift_weights(before, part, by)
    found = [getattr(after, name) for name in COMPONENTS]
    assert sum(found) == pytest.approx(1) and all(0 <= value <= 1 for value in found)
    assert found[part] == pytest.approx(min(1, max(0, getattr(before, COMPONENTS[part]) + by)), abs=1e-6)


async def test_plus_ranks_anew_without_a_trace_and_zero_takes_it_back() -> None:
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        await driven.press("right", "plus")
        asked = [request for request in world.calls if request.command == "frame assemble"][-1]
        assert asked.origin == "screen" and asked.arguments["look"]
        assert str(asked.arguments["weights"]).split(",")[4] == "0.15"
        assert "[reinfor 0.15]" in driven.text
        await driven.press("a")
        compared = next(call for call in world.calls if call.command == "frame compare")
        assert compared.arguments["weights_a"] is None, "A is the frame as it is"
        assert str(compared.arguments["weights_b"]).split(",")[4] == "0.15"
        await driven.press("escape", "0")
        assert world.asked("frame assemble")[-1]["weights"] is None


# --- copying ----------------------------------------------------------------------------------------------
