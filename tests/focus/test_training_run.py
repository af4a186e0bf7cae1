"""Training runs from a file: the configuration, the shards, cancelling and resuming, the log, the card, workers."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors import safe_open

from amgs_focus.errors import CheckpointError, ConfigurationError, TextError
from amgs_focus.gist.checkpoint import load_checkpoint, save_checkpoint
from amgs_focus.gist.gistnet import GistNet, GistShape
from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_training import run_record
from benchmarks.focus_training.corpus import open_corpus, read_shard, stage
from benchmarks.focus_training.data_parallel import DataParallel
from benchmarks.focus_training.gist_objective import step_loss
from benchmarks.focus_training.gist_run import train_gistnet, widened
from benchmarks.focus_training.gistnet import GistEvaluator, GistState, cues_of, resumed, start
from benchmarks.focus_training.records import TrainedRun
from benchmarks.focus_training.run_config import RunConfig, learning_rate, parse_config, read_config
from benchmarks.focus_training.run_record import RunRecord, RunSession, validation_score
from benchmarks.focus_training.trainer import StepReport
from tests.focus.training_world import CONFIG, LAMPS, write_run


class Ticking:
    """A clock that is a second later at every look."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def perf(self) -> float:
        self.seconds += 1.0
        return self.seconds


def run(config: RunConfig, **told: Any) -> TrainedRun:
    return train_gistnet(config, clock=Ticking(), **told)


def weights(file: Path) -> dict[str, torch.Tensor]:
    encoder = load_checkpoint(file, TinyModel())
    return {
        **encoder.token_net.state_dict(prefix="t."),
        **encoder.gist_net.state_dict(prefix="g."),
    }


# --- the configuration ------------------------------------------------------------------------------------


def test_paths_in_the_file_are_taken_from_its_folder(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    assert config.out == tmp_path / "run"
    assert config.data.staged == tmp_path / "shards"
    assert config.data.texts[0].path == tmp_path / "lamps.txt"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gistnet": {"tokens": {"stpes": 3}}}, r"gistnet.tokens.stpes is no key \(did you mean steps\?\)"),
        ({"gistnet": {"tokens": {"phases": [{"until": 0}]}}}, "gistnet.tokens.phases.0.until"),
        ({"gistnet": {"slots": 3}}, "gistnet.slots"),
        ({"focus": {"block_size": 16}}, "GistNet is built for blocks of 32"),
        ({"focus": {"windwo": 16}}, r"focus.windwo is no key \(did you mean window\?\)"),
        ({"model": {"precision": "fp8"}}, "model.precision"),
        ({"workers": 0}, "workers"),
        ({"data": {"texts": []}}, "data.texts"),
        (
            {"data": {"texts": [{"name": "a", "path": "a"}, {"name": "a", "path": "b"}]}},
            "two texts are called 'a'",
        ),
        ({"data": {"texts": [{"name": "a"}]}}, "data.texts.0.path is missing"),
        ({"seed": "x", "extra": 1}, "extra is no key"),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    given = {**tomllib.loads(CONFIG), **change}
    with pytest.raises(ConfigurationError, match=named) as refused:
        parse_config(given, tmp_path, "run.toml")
    assert "run.toml" in refused.value.message
    assert refused.value.way_out


def test_a_file_that_is_no_toml_or_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_config(file)
    file.write_text("name = ", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not TOML"):
        read_config(file)


def test_the_defaults_of_the_net_for_gists_are_its_own(tmp_path: Path) -> None:
    plain = parse_config({"data": {"texts": [{"name": "a", "path": "a"}]}}, tmp_path)
    assert plain.training("tokens", 576).shape.hidden == 512
    upper = plain.training("gists", 576)
    assert (upper.level, upper.shape.hidden, upper.separation) == (2, 320, 0.0)


# --- the shards -------------------------------------------------------------------------------------------


def test_shards_hold_whole_blocks_and_say_where_they_are_from(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    model = TinyModel()
    staged = stage(config.data, model)
    assert [(one.name, one.split, one.fresh) for one in staged.shards] == [
        ("lamps", "train", True),
        ("lamps", "validation", True),
        ("notes", "train", True),
        ("notes", "validation", True),
    ]
    said, tokens = read_shard(tmp_path / "shards" / "lamps.train.arrow")
    assert tokens.dtype == torch.int32
    assert len(tokens) % 32 == 0 and len(tokens) == said.tokens
    assert tokens.tolist() == model.encode(LAMPS)[: said.tokens]
    later, kept = read_shard(tmp_path / "shards" / "lamps.validation.arrow")
    whole = model.encode(LAMPS)
    assert later.first == said.tokens + said.left_out == len(whole) - int(len(whole) * 0.2)
    assert kept.tolist() == whole[later.first : later.first + later.tokens]
    notes, _ = read_shard(tmp_path / "shards" / "notes.train.arrow")
    assert [name for name, _ in notes.files] == ["a.md", "b.md"]


def test_only_texts_that_changed_are_staged_again(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    model = TinyModel()
    stage(config.data, model)
    assert not any(one.fresh for one in stage(config.data, model).shards)
    (tmp_path / "notes" / "b.md").write_text(LAMPS[:4000], encoding="utf-8")
    assert {one.name for one in stage(config.data, model).shards if one.fresh} == {"notes"}
    assert {one.name for one in stage(config.data, TinyModel(seed=8)).shards if one.fresh} == {
        "lamps",
        "notes",
    }
    (tmp_path / "shards" / "lamps.train.arrow").write_bytes(b"cut")
    assert {one.name for one in stage(config.data, TinyModel(seed=8)).shards if one.fresh} == {"lamps"}


def test_a_corpus_of_shards_draws_what_a_corpus_of_texts_draws(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    corpus = open_corpus(config.data, TinyModel())
    window = corpus.window(100, torch.Generator().manual_seed(1))
    assert TinyModel().decode(window.tolist()) in LAMPS + LAMPS[:3000] + "\n\n" + LAMPS[5000:9000]
    with pytest.raises(TextError):
        corpus.window(10**6, torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8"),
        (lambda path: path.write_text("", encoding="utf-8"), "0 tokens"),
        (lambda path: path.write_text("a", encoding="utf-8"), "less than a block"),
    ],
)
def test_texts_that_cannot_be_used_are_named(tmp_path: Path, make: Any, named: str) -> None:
    config = read_config(write_run(tmp_path))
    make(tmp_path / "lamps.txt")
    with pytest.raises(TextError, match=named):
        stage(config.data, TinyModel())


# --- the run ----------------------------------------------------------------------------------------------


def test_a_run_ends_in_a_checkpoint_and_a_card_of_its_own_figures(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    told: list[tuple[int, int, str]] = []
    done = run(config, progress=lambda *said: told.append(said))
    assert done.complete
    encoder = load_checkpoint(Path(done.checkpoint), TinyModel())
    assert encoder.token_net.write.weight.abs().sum() > 0
    with safe_open(done.checkpoint, framework="pt") as file:
        made = file.metadata()
    as_told = json.loads(made["configuration"])
    assert as_told["gistnet"]["tokens"]["steps"] == 6 and made["seed"] == str(config.seed)
    assert str(tmp_path) not in made["configuration"] and "out" not in as_told
    shards = json.loads(made["texts"])
    assert shards == {part.name: part.digest for part in open_corpus(config.data, TinyModel()).parts}
    card = Path(done.card).read_text(encoding="utf-8")
    assert made["commit"] in card and all(digest in card for digest in shards.values())
    assert encoder.gist_net.write.weight.abs().sum() > 0
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert [(leg["part"], leg["start"], leg["stop"]) for leg in record["legs"]] == [
        ("tokens", 0, 6),
        ("gists", 0, 2),
    ]
    assert record["configuration"]["gistnet"]["tokens"]["steps"] == 6
    card = Path(done.card).read_text(encoding="utf-8")
    tokens = next(part for part in done.parts if part.part == "tokens")
    assert f"| harm_lamps_2_0_32 | {tokens.validation['harm_lamps_2_0_32']:.3f} |" in card
    assert str(encoder.version) in card and "6 of 6" in card
    assert any("left" in doing and "kl" in doing for _, _, doing in told)


def test_a_run_in_sittings_equals_one_in_one_go(tmp_path: Path) -> None:
    whole = run(read_config(write_run(tmp_path / "whole")))
    config = read_config(write_run(tmp_path / "parts"))
    first = run(config, steps=4)
    assert not first.complete and not first.checkpoint
    assert [part.step for part in first.parts] == [4, 0]
    second = run(config, steps=3, resume=True)
    assert [part.step for part in second.parts] == [6, 1]
    third = run(config, resume=True)
    assert third.complete
    straight, parted = weights(Path(whole.checkpoint)), weights(Path(third.checkpoint))
    assert all(torch.equal(straight[name], parted[name]) for name in straight)
    again = run(config, resume=True)
    assert again.complete and again.checkpoint == third.checkpoint


def test_cancelling_keeps_the_step_it_was_at(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))

    class StoppedError(Exception):
        """The operator's word."""

    def progress(done: int, total: int, doing: str) -> None:
        if done == 3 and "step" in doing:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(config, progress=progress)
    record = json.loads((config.out / "run.json").read_text(encoding="utf-8"))
    assert record["parts"][0]["step"] == 3
    whole = run(read_config(write_run(tmp_path / "whole")))
    resumed = run(config, resume=True)
    straight, parted = weights(Path(whole.checkpoint)), weights(Path(resumed.checkpoint))
    assert all(torch.equal(straight[name], parted[name]) for name in straight)


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    run(config, steps=1)
    with pytest.raises(ConfigurationError, match="already holds a run"):
        run(config)
    other = config.model_copy(update={"seed": 4})
    with pytest.raises(CheckpointError, match="seed 3, not 4"):
        run(other, resume=True)


def test_every_step_is_logged_once_even_after_a_crash(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    run(config, steps=4)
    log = config.out / "log.jsonl"
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"part": "tokens", "step": 5, "loss": 0.0}) + '\n{"part": "tok')
    run(config, resume=True)
    lines = run_record.read_log(log, "tokens")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert all(line["loss"] > 0 and line["rate"] > 0 for line in lines)
    assert "harm_lamps_2_0_32" in lines[-1]["validation"]
    assert len(log.read_text(encoding="utf-8").splitlines()) == 6 + 2


def test_weights_and_biases_is_asked_for_by_name_and_refused_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config(write_run(tmp_path, CONFIG + '\n[logging]\nwandb = "lamps"\n'))
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigurationError, match="wandb package is not installed"):
        run(config)


def test_weights_and_biases_gets_what_the_log_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, dict[str, float]]] = []

    class Recorder(ModuleType):
        def init(self, **said: Any) -> Recorder:
            assert said["project"] == "lamps"
            return self

        def log(self, values: dict[str, float], step: int) -> None:
            told.append((step, values))

        def finish(self) -> None:
            told.append((-1, {}))

    recorder = Recorder("wandb")
    recorder.__spec__ = ModuleSpec("wandb", None)
    monkeypatch.setitem(sys.modules, "wandb", recorder)
    run(read_config(write_run(tmp_path, CONFIG + '\n[logging]\nwandb = "lamps"\n')), steps=2)
    assert [step for step, _ in told] == [1, 2, -1]
    assert told[0][1]["tokens/loss"] > 0


def test_a_net_of_more_slots_begins_as_the_trained_one(tmp_path: Path) -> None:
    torch.manual_seed(0)
    shape = GistShape(width=64, hidden=32, heads=4)
    trained = GistNet(shape)
    torch.nn.init.normal_(trained.write.weight, std=0.1)
    save_checkpoint(tmp_path / "one.safetensors", trained, GistNet(shape), model=TinyModel())
    config = CONFIG.replace(
        "[gistnet.tokens]", '[gistnet]\nslots = 4\nstart = "one.safetensors"\n[gistnet.tokens]'
    )
    config = config.replace("steps = 6", "steps = 0").replace("steps = 2", "steps = 0")
    done = run(read_config(write_run(tmp_path, config)))
    wide = load_checkpoint(Path(done.checkpoint), TinyModel()).token_net
    assert wide.shape.slots == 4
    block = torch.randn(2, 32, 64)
    assert not torch.allclose(wide(block)[:, 3], block[:, 31], atol=1e-3)
    with pytest.raises(CheckpointError, match="another shape"):
        widened(trained, GistShape(width=64, hidden=64, heads=4))


def averaged_step(config: RunConfig) -> GistState:
    """The slow twin of two workers' first step: both losses in this process, their gradients averaged."""
    model = TinyModel()
    corpus, settings = open_corpus(config.data, model), config.training("tokens", 64)
    state = start(settings)
    for rank in range(2):
        loss, _ = step_loss(
            settings, corpus, model, state.net, cues_of(state), 0, parallel=DataParallel(rank, 2)
        )
        (loss / 2).backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(state.net.parameters(), settings.clip)
    for optimizer in state.optimizers:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings, 0)
        optimizer.step()
    return state


def test_two_workers_average_their_gradients_repeat_and_resume(tmp_path: Path) -> None:
    told = CONFIG.replace("seed = 3", "seed = 3\nworkers = 2").replace("steps = 2", "steps = 0")
    straight = run(read_config(write_run(tmp_path / "once", told)))
    parted = read_config(write_run(tmp_path / "parted", told))
    assert [part.step for part in run(parted, steps=1).parts] == [1, 0]
    first = resumed(parted.out / "tokens.state", parted.training("tokens", 64))
    for name, value in averaged_step(parted).net.state_dict().items():
        torch.testing.assert_close(first.net.state_dict()[name], value, atol=1e-6, rtol=1e-5)
    whole, again = (weights(Path(one.checkpoint)) for one in (straight, run(parted, resume=True)))
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    lines = run_record.read_log(parted.out / "log.jsonl", "tokens")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_two_passes_of_one_worker_make_the_step_of_two_workers(tmp_path: Path) -> None:
    told = CONFIG.replace("warmup = 2 }", "warmup = 2, accumulate = 2 }", 1).replace("steps = 2", "steps = 0")
    config = read_config(write_run(tmp_path, told))
    run(config, steps=1)
    first = resumed(config.out / "tokens.state", config.training("tokens", 64))
    for name, value in averaged_step(config).net.state_dict().items():
        torch.testing.assert_close(first.net.state_dict()[name], value, atol=1e-6, rtol=1e-5)


def test_the_weights_that_validated_best_are_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter((0.1, 0.4, 0.2))
    monkeypatch.setattr(GistEvaluator, "evaluate", lambda self, net: {"content_lamps": next(found)})
    told = CONFIG.replace("validate_every = 6", "validate_every = 2").replace("steps = 2", "steps = 0")
    config = read_config(write_run(tmp_path, told))
    done = run(config)
    state = resumed(config.out / "tokens.state", config.training("tokens", 64))
    exported = load_checkpoint(Path(done.checkpoint), TinyModel()).token_net.state_dict()
    assert (state.step, state.best_step) == (6, 4)
    assert not all(torch.equal(state.net.state_dict()[name], state.best[name]) for name in state.best)
    for name, value in state.best.items():
        torch.testing.assert_close(exported[name], value, atol=1e-3, rtol=1e-3)  # half precision
    card = Path(done.card).read_text(encoding="utf-8")
    assert "those of step 4:" in card and "| content_lamps | 0.400 |" in card


def test_an_error_of_a_worker_is_told_as_it_is(tmp_path: Path) -> None:
    config = CONFIG.replace("seed = 3", "seed = 3\nworkers = 2").replace("blocks = 2", "blocks = 9999")
    with pytest.raises(TextError, match="a window needs"):
        run(read_config(write_run(tmp_path, config)))


def test_a_validation_behind_the_best_one_is_told_even_after_a_pause(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    told: list[str] = []

    def run_session(first: int) -> RunSession:
        return RunSession(
            config,
            tmp_path,
            "tokens",
            "net",
            (first, 9, 9),
            Ticking(),
            lambda done, total, doing: told.append(doing),
        )

    begun = run_session(0)
    begun.report(StepReport(1, 9, 0.1, {"loss": 1.0}, {"recovered_a": 0.5, "recovered_b": 0.7}))
    record = RunRecord("gistnet", {"name": "tiny-7"}, {})
    record = begun.recorded(record, 1)
    resumed = run_session(1)
    resumed.report(StepReport(2, 9, 0.1, {"loss": 1.0}, {"recovered_a": 0.4, "recovered_b": 0.6}))
    record = resumed.recorded(record, 2)
    assert "behind" not in told[0] and told[1].endswith("0.100 behind its best")
    assert record.parts[0].validation["drift"] == pytest.approx(0.1)
    assert validation_score({"loss_at_h": 3.0}) > validation_score({"loss_at_h": 4.0})
