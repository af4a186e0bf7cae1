"""Commands, options, settings and keys that documents, glossary, help and descriptions of settings name exist."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from textual.binding import Binding

from amgs import Memory
from amgs.wing_registry import load_named, wings
from amgs_app import cli, reference
from amgs_app.calls.plain_values import SHARED_OPTIONS, flag_of
from amgs_app.calls.registry import EXAMPLES, LEFT, standard
from amgs_app.command_line.service_commands import new_token
from amgs_app.server.answer_schema import read_return_type
from amgs_app.settings import every_setting
from amgs_app.terminal.line import LineError
from amgs_app.workplace.operator_commands import METRICS
from amgs_tui.keys import EVERYWHERE as KEYS
from amgs_tui.panes.by_key import PANE_TYPES
from amgs_tui.widgets.bars import name_key

ROOT = Path(__file__).parents[2]
WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/panes").glob("*.md"))]
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?![\w-])")
GLOBAL = {flag_of(name) for name in SHARED_OPTIONS} | {
    "--help",
    "--version",
    "--install-completion",
    "--show-completion",
}
OTHERS = {
    "--amgs": "pytest",
    "--no-deps": "pip",
    "--readonly": "lnav",
    "--config": "posting",
    "--max-time": "curl",
    "--slow": "a test",
}
"""Options of other programs that a text names without their program."""
KEY = re.compile(r"(?<= )([a-z_]+)(?:\.[a-z]+)?=")
NOT_COMMANDS = ("import amgs", "workers = ")
"""What begins with the first word of a command and is Python or TOML."""
FILES = re.compile(r".*\.(?:json|duckdb|wal|counter)")


@cache
def options() -> dict[str, frozenset[str]]:
    """The options of each command by its words."""
    ways = {**cli._FRONT_ENDS, "token new": new_token}
    assert set(ways) == set(EXAMPLES)
    found = {
        name: frozenset(FLAG.findall(" ".join(map(str, inspect.signature(way, eval_str=True).parameters.values()))))
        for name, way in ways.items()
    }
    for each in standard():
        found[each.name] = frozenset(flag for parameter in each.parameters for flag in parameter.flags)
    return found


@cache
def beginnings() -> frozenset[str]:
    """The words that commands begin with: `block`, `frame`, `frame assemble`."""
    return frozenset(" ".join(name.split()[:count]) for name in options() for count in range(1, len(name.split()) + 1))


def fault_of(line: str) -> str:
    """What is wrong with a command that a text names; "" where nothing is, and for what is no command."""
    if line.startswith(NOT_COMMANDS):
        return ""
    words = line.split()
    if words[0].startswith("--"):
        known = GLOBAL.union(*options().values(), OTHERS)
        return next((f"no option {one}" for one in FLAG.findall(line) if one not in known), "")
    typed = words[0] == "amgs"
    if typed:
        del words[0]
        while words and words[0] in GLOBAL:
            del words[: 1 if words[0] in ("--read-only", "--help", "--version") else 2]
    plain = bool(words) and re.fullmatch(r"[a-z][a-z-]*", words[0]) is not None
    if not plain or (not typed and words[0] not in beginnings()):
        return ""
    count = next((n for n in (3, 2, 1) if len(words) >= n and " ".join(words[:n]) in beginnings()), 0)
    name = " ".join(words[:count])
    further = words[count] if len(words) > count else ""
    if not count or (name not in options() and re.fullmatch(r"[a-z-]+", further)):
        return f"no command {' '.join(words[: count + 1])}"
    below = [flags for one, flags in options().items() if f"{one} ".startswith(f"{name} ")]
    known = GLOBAL.union(*([options()[name]] if name in options() else below))
    arguments = line.partition(" -- ")[0]
    keyed = next((command.pairs for command in standard() if command.name == name), {})
    if unknown := [key for key in KEY.findall(arguments) if keyed and key not in keyed]:
        return f"{name} has no key {unknown[0]}"
    return next((f"{name} has no option {one}" for one in FLAG.findall(arguments) if one not in known), "")


def commands_in(text: str) -> Iterator[str]:
    """What stands between backticks, and lines of indented examples that call the program; parts of a pipe by one."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    lines = [*SPAN.findall(text), *re.findall(r"^    (amgs .*)$", text, flags=re.M)]
    for line in lines:
        for part in re.split(r"\s*(?:&&|\\?\||;|\s#\s)\s*", line):
            if part.strip():
                yield part.strip()


def texts() -> Iterator[tuple[str, str]]:
    """Every text that names commands, with where it is."""
    for path in WRITTEN:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for word, told in (*reference.TERMS, *(each for words in reference.SCREEN.values() for each in words)):
        yield f"glossary: {word}", told
    for each in standard():
        helps = (parameter.help for parameter in each.parameters)
        yield f"help {each.name}", "\n".join((each.help, each.summary, f"`amgs {each.example}`", *helps))
    for name, way in {**cli._FRONT_ENDS, "token new": new_token}.items():
        yield f"help {name}", inspect.getdoc(way) or ""
    for name, example in EXAMPLES.items():
        yield f"help {name}", f"`amgs {example}`"
    for setting in every_setting():
        yield f"settings {setting.key}", setting.description


def test_commands_and_options_that_a_text_names_exist() -> None:
    named_ones = [(where, line) for where, text in texts() for line in commands_in(text)]
    assert len(named_ones) > 1500, "nothing was read"
    assert [f"{where}: `{line}`: {fault}" for where, line in named_ones if (fault := fault_of(line))] == []


def test_settings_that_a_text_names_exist() -> None:
    keys = {each.key for each in every_setting()}
    sections = {key.split(".")[0] for key in keys}
    known = keys | {key.rsplit(".", count)[0] for key in keys for count in (1, 2)} | set(METRICS)
    known |= {str(binding.id) for kind in PANE_TYPES for binding in kind.BINDINGS if isinstance(binding, Binding)}
    wrong, seen = [], 0
    for where, text in texts():
        for span in SPAN.findall(text):
            key = re.fullmatch(r"((\w+)(?:\.\w+)+)(?: = .*)?", span)
            if key is not None and key[2] in sections and not FILES.fullmatch(span):
                seen += 1
                if key[1] not in known and not _of_a_memory(key[1]):
                    wrong.append(f"{where}: {span}")
    assert wrong == []
    assert seen > 100, "nothing was read"


def _of_a_memory(name: str) -> bool:
    """Whether it is an attribute of an open memory, as Python names it: `memory.packs.keep`."""
    first, part, *method = name.split(".")
    found = getattr(Memory, part, None) if first == "memory" else None
    if part in wings() and method:
        return hasattr(load_named(wings()[part].part), method[0])
    if isinstance(found, property) and method:
        assert found.fget is not None
        found = getattr(read_return_type(found.fget), method[0], None)
    return found is not None


def test_keys_that_the_page_of_a_pane_names_are_bound() -> None:
    wrong, seen = [], 0
    for pane in PANE_TYPES:
        bindings = [binding for binding in (*KEYS, *pane.BINDINGS) if isinstance(binding, Binding)]
        bound = {name_key(key.strip()) for binding in bindings for key in binding.key.split(",")}
        page = (ROOT / "docs" / "panes" / f"{pane.NAME}.md").read_text(encoding="utf-8")
        for span in SPAN.findall(page.partition("## Words on this screen")[0]):
            if re.fullmatch(r"[A-Za-z]|ctrl\+\w|enter|esc|tab|space", span):
                seen += 1
                if span not in bound:
                    wrong.append(f"{pane.NAME}: {span}")
    assert wrong == []
    assert seen > 2, "nothing was read"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("block restore", "no command block restore"),
        ("amgs froze", "no command froze"),
        ("block set ID --colour X", "block set has no option --colour"),
        ("--nowhere", "no option --nowhere"),
        ("amgs --store m.duckdb run tour.amgs --out pictures", ""),
        ("frame assemble NAME", ""),
        ("pip install --upgrade", ""),
    ],
)
def test_what_does_not_exist_is_found(line: str, fault: str) -> None:
    assert fault_of(line) == fault


def test_what_left_names_a_line_that_there_is_now(capsys: pytest.CaptureFixture[str]) -> None:
    faults = {old: fault for old, line in LEFT.items() if (fault := fault_of(line.replace("…", "x")))}
    assert faults == {} and not LEFT.keys() & {each.name for each in standard()}
    assert cli.run(["review", "scan"]) == 2
    assert capsys.readouterr().err == "amgs: `review scan` is now `review --scan`.\n"
    with pytest.raises(LineError, match="is now `pack assemble"):
        standard().parse("pack use dome")
