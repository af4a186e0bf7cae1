"""Complete a half-written command line: commands, options, keys and the names that an argument takes.

The shell, the screen's command line and shell completion use it. It never opens a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from amgs_app.calls.marks import PAIR, Kind, Parameter
from amgs_app.calls.operation import Operation
from amgs_app.calls.parsing import parts_of
from amgs_app.calls.registry import Registry
from amgs_app.panes.layout import PANES
from amgs_app.terminal.line import LineError, Word, quote, split

if TYPE_CHECKING:
    from amgs.types import Block, FrameDefinition, JournalEntry

MOST = 50
"""Most suggestions for a word."""
SHORT_ID = 12
"""Characters of a block's id in a suggestion."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion: `text` replaces the last `replaces` characters of the line; label and note are shown beside it."""

    text: str
    replaces: int
    label: str = ""
    note: str = ""


class NameSource(Protocol):
    """Where names come from: an open memory, or what the screen has cached of it."""

    def find(self, text: str, limit: int) -> Sequence[Block]:
        """Return at most `limit` blocks whose titles match."""

    def block(self, block_id: str) -> Block:
        """Return the block of this id."""

    def entity_names(self, start: str, limit: int) -> Sequence[str]:
        """Return at most `limit` entity names with this beginning."""

    def frame_definitions(self) -> Sequence[FrameDefinition]:
        """Return the registered frames."""

    def operations(self, limit: int) -> Sequence[JournalEntry]:
        """Return the latest operations of the journal."""


def complete(
    registry: Registry, line: str, memory: NameSource | None = None, listed: Sequence[str] = ()
) -> tuple[Suggestion, ...]:
    """Suggest completions for the last word of the line, at most MOST.

    memory: None if no store is open; blocks, frames and journal entries are then not suggested. listed: block ids of
    the last list, suggested as @1, @2 …
    """
    try:
        words = split(line)
        typed, open_quote = _last(words, line)
    except LineError as error:
        typed, open_quote = line[error.column :], True
        words = split(line[: error.column - 1])
    else:
        words = words[:-1] if typed else words
    replaces = len(typed) + (1 if open_quote else 0) if open_quote else _width(line, typed)
    candidates = _candidates(registry, words, typed, _Known(memory, listed))
    suggestions = (Suggestion(quote(text), replaces, label or text, note) for text, label, note in candidates)
    return tuple(suggestions)[:MOST]


def _last(words: list[Word], line: str) -> tuple[str, bool]:
    """Return the word being typed ("" after a blank), and False: no quote is open."""
    return ("", False) if not words or line[-1:].isspace() else (str(words[-1]), False)


def _width(line: str, typed: str) -> int:
    """Return how many characters of the line the unfinished word takes, quotes included."""
    if not typed:
        return 0
    return len(line) - split(line)[-1].column + 1


@dataclass(frozen=True, slots=True)
class _Known:
    memory: NameSource | None
    listed: Sequence[str]


Candidate = tuple[str, str, str]
"""(text, label, note)"""


def _candidates(registry: Registry, words: list[Word], typed: str, known: _Known) -> Iterable[Candidate]:
    """Yield what may replace the typed word after the finished words: command words, flags, values or keys."""
    chosen, count = registry.find(words)
    if chosen is None:
        yield from _command_words(registry, words, typed)
        return
    if words == list(chosen.words[: len(words)]) and chosen.name in registry.nouns():
        yield from _command_words(registry, words, typed)
    rest = words[count:]
    if typed.startswith("-"):
        yield from _flags(chosen, rest, typed)
        return
    parameter = _current(chosen, rest)
    if parameter is not None and not (chosen.pairs and PAIR.match(typed)):
        yield from _values(registry, parameter, typed, known)
    yield from keys_and_values(chosen, typed, known)


def _command_words(registry: Registry, words: list[Word], typed: str) -> Iterable[Candidate]:
    """Yield the next word of every operation whose name begins with these words."""
    depth = len(words)
    seen: dict[str, str] = {}
    for operation in registry:
        if (
            len(operation.words) > depth
            and list(operation.words[:depth]) == words
            and operation.words[depth].startswith(typed)
        ):
            whole = len(operation.words) == depth + 1
            seen.setdefault(operation.words[depth], operation.summary if whole else "…")
    yield from ((word, word, note) for word, note in seen.items())


def _flags(chosen: Operation[..., Any], rest: list[Word], typed: str) -> Iterable[Candidate]:
    """Yield the flags that begin with the typed text, except those already typed."""
    for parameter in chosen.parameters:
        if parameter.is_option and (parameter.many or not set(parameter.flags) & set(rest)):
            for flag in parameter.flags:
                if flag.startswith(typed):
                    yield flag, flag, parameter.help


def keys_and_values(chosen: Operation[..., Any], typed: str, known: _Known = _Known(None, ())) -> Iterable[Candidate]:
    """Yield the keys that begin with the typed text; after `key=`, the values of that key."""
    key, sign, start = typed.partition("=")
    if sign and key in chosen.pairs:
        for text, label, note in _values(Registry(()), chosen.pairs[key], start, known):
            yield f"{key}={text}", label, note
    elif not sign:
        for name, parameter in chosen.pairs.items():
            names = (name, *(f"{name}.{part}" for part in parts_of(parameter) if "." in typed))
            yield from ((f"{n}=", f"{n}=", parameter.help) for n in names if parameter.is_key and n.startswith(typed))


def _current(chosen: Operation[..., Any], rest: list[Word]) -> Parameter | None:
    """Return the parameter that the next word would fill, None if there is none."""
    by_flag = {flag: parameter for parameter in chosen.parameters for flag in parameter.flags}
    before = by_flag.get(rest[-1]) if rest else None
    if before is not None and not before.is_switch:
        return before
    filled = 0
    skip = False
    for word in rest:
        option = by_flag.get(word)
        if skip:
            skip = False
        elif option is not None:
            skip = not option.is_switch
        elif not word.startswith("-") and not (chosen.pairs and PAIR.match(word)):
            filled += 1
    positional = [parameter for parameter in chosen.parameters if not parameter.is_option]
    if filled < len(positional):
        return positional[filled]
    return positional[-1] if positional and positional[-1].many else None


def _values(registry: Registry, parameter: Parameter, typed: str, known: _Known) -> Iterable[Candidate]:
    """Yield the values of a parameter that begin with the typed text, by what it takes."""
    if parameter.choices:
        yield from ((choice, choice, "") for choice in parameter.choices if choice.startswith(typed))
    elif parameter.takes == "command":
        yield from _command_words(registry, [], typed)
    elif parameter.takes in ("file", "folder"):
        yield from _paths(typed, folders_only=parameter.takes == "folder")
    elif parameter.takes in _NAMED:
        yield from _NAMED[parameter.takes](known, typed)


def _paths(typed: str, *, folders_only: bool) -> Iterable[Candidate]:
    """Yield files and folders whose path begins with the typed text."""
    folder, _, start = typed.rpartition("/")
    base = Path(folder or ("/" if typed.startswith("/") else ".")).expanduser()
    try:
        entries = sorted(base.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(start) and (start.startswith(".") or not entry.name.startswith(".")):
            is_folder = entry.is_dir()
            if is_folder or not folders_only:
                shown = (f"{folder}/" if "/" in typed else "") + entry.name + ("/" if is_folder else "")
                yield shown, entry.name, "folder" if is_folder else ""


def _blocks(known: _Known, typed: str) -> Iterable[Candidate]:
    """Yield blocks that match the typed text; if it is empty, those of the last list."""
    if known.memory is None:
        return
    if typed:
        for block in known.memory.find(typed, MOST):
            yield block.id[:SHORT_ID], block.title, block.id[:SHORT_ID]
        return
    for number, block_id in enumerate(known.listed[:9], 1):
        yield f"@{number}", f"@{number}", known.memory.block(block_id).title


def _entities(known: _Known, typed: str) -> Iterable[Candidate]:
    if known.memory is not None:
        yield from ((name, name, "") for name in known.memory.entity_names(typed, MOST))


def _frames(known: _Known, typed: str) -> Iterable[Candidate]:
    if known.memory is not None:
        for definition in known.memory.frame_definitions():
            if definition.name.lower().startswith(typed.lower()):
                yield definition.name, definition.name, definition.purpose


def _operations(known: _Known, typed: str) -> Iterable[Candidate]:
    if known.memory is not None:
        for operation in known.memory.operations(20):
            if str(operation.id).startswith(typed) and not operation.undone:
                yield str(operation.id), str(operation.id), operation.summary


def _themes(known: _Known, typed: str) -> Iterable[Candidate]:
    del known
    from amgs_app.terminal.themes import load_all, theme_folders

    yield from ((name, name, "") for name in load_all(theme_folders())[0] if name.startswith(typed))


def _panes(known: _Known, typed: str) -> Iterable[Candidate]:
    del known
    yield from ((pane, pane, "") for pane in PANES if pane.startswith(typed))


def settings_beginning(typed: str) -> Iterable[Candidate]:
    """Yield the settings that begin with the typed text; after `key=`, the setting's allowed values."""
    from amgs_app.settings import every_setting

    key, sign, start = typed.partition("=")
    for setting in every_setting():
        if sign and setting.key == key:
            yield from ((f"{key}={value}", value, "") for value in setting.choices if value.startswith(start))
        elif not sign and setting.key.startswith(key):
            yield f"{setting.key}=", setting.key, setting.description


_NAMED: Mapping[Kind, Callable[[_Known, str], Iterable[Candidate]]] = MappingProxyType(
    {
        "block": _blocks,
        "entity": _entities,
        "frame": _frames,
        "operation": _operations,
        "theme": _themes,
        "pane": _panes,
        "setting": lambda _, typed: settings_beginning(typed),
    }
)
