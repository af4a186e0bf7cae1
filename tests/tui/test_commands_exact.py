"""Commands do what their words say, with the settings as they are, and read no more of the store than they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amgs.storage.frames import FrameStorage
from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from tests.tui.headless_world import NOW, write_corpus
from tests.tui.real_world import say

PROFILES = "[memory.decay.profiles]\nephemeral = 0.5\nstandard = 0.02\ndurable = 0.02\ncore = 0.002\n"


def opened(folder: Path, settings: str = "") -> Operator:
    from amgs.clock import parse_instant

    file = folder / "settings.toml"
    file.write_text(settings)
    corpus = write_corpus(folder / "corpus")
    now = parse_instant(NOW)
    return Operator(Engine(Options(store=":memory:", corpus=corpus, model="tiny", now=now, settings=file)))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Operator]:
    with opened(tmp_path) as made:
        say(made, "ingest")
        say(made, "consolidate")
        yield made


@pytest.mark.parametrize(("profile", "rate"), [("standard", 0.02), ("core", 0.002), ("ephemeral", 0.5)])
def test_a_profile_is_what_the_settings_make_it(tmp_path: Path, profile: str, rate: float) -> None:
    with opened(tmp_path, PROFILES) as session:
        say(session, "ingest")
        say(session, "consolidate")
        assert say(session, f"decay curve motor.md --profile {profile}").decay_lambda == rate
        assert say(session, f"block set motor.md --profile {profile}").block.decay_lambda == rate
        assert say(session, "block show motor.md").profile in (profile, "standard")


def test_a_frame_is_assembled_from_definitions_that_are_read_once(
    session: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    everything = FrameStorage.everything

    def counted(self: Any) -> Any:
        read.append(1)
        return everything(self)

    monkeypatch.setattr(FrameStorage, "everything", counted)
    say(session, "frame assemble attention --query dome")
    assert len(read) == 1
