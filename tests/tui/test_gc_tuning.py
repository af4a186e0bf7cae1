"""What holds the screen is kept short while it runs, and is as it was afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from amgs_app.gc_tuning import FULL_EVERY, YOUNG_OBJECTS, rare_collections, short_pauses


def test_collections_and_turns_are_as_before_when_the_screen_is_left() -> None:
    before = gc.get_threshold(), sys.getswitchinterval()
    with pytest.raises(KeyError), short_pauses():
        assert gc.get_threshold()[2] == FULL_EVERY and sys.getswitchinterval() < before[1]
        gc.freeze()
        raise KeyError
    assert (gc.get_threshold(), sys.getswitchinterval()) == before and not gc.get_freeze_count()


def test_a_command_collects_rarely_and_only_until_it_ends() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), rare_collections():
        assert gc.get_threshold() == (YOUNG_OBJECTS, *before[1:])
        raise KeyError
    assert gc.get_threshold() == before


def test_torch_is_imported_after_its_library_was_opened_and_works() -> None:
    code = (
        "from amgs.text.torch_library import open_ahead\n"
        "import sys; first = open_ahead(); assert 'torch' not in sys.modules\n"
        "import torch; assert not open_ahead()\n"
        "print(first == sys.platform.startswith('linux'), int((torch.ones(3) @ torch.ones(3)).item()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.split() == ["True", "3"]
