"""Find operations by name in the Registry of all front ends, and parse a line into a call.

Also the modules that define operations, imported on first use; the headings under which help lists them; and
the commands of earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, NoReturn

from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation
from amgs_app.terminal.line import LineError, Word, near, split
from amgs_app.wing_views import views

LEFT: Mapping[str, str] = MappingProxyType(
    {
        "block latest": "block find",
        "block note": 'block set ID --note "…"',
        "block pin": "block set ID --pin",
        "block tag": "block set ID --tag TAG",
        "bookmark": "block set ID --meta marked=yes",
        "bookmarks": "block find --meta marked=yes",
        "consolidate apply": "consolidate --draft",
        "conversation compare": "conversation show NAME --view compare",
        "conversation survival": "conversation show NAME --view survival",
        "conversation validate": 'conversation show NAME --view survival --text "…"',
        "decay categories": "decay curve",
        "edge add": "edge set",
        "edge apply": "edge set",
        "edge edit": "edge set",
        "fix": "diagnose … --apply",
        "frame replay": "frame history",
        "frame reset": "frame delete NAME",
        "frame show": "frame list NAME",
        "graph centrality": "graph inspect ID",
        "graph communities": "graph stats --communities",
        "health": "status",
        "inbox due": "inbox list --due",
        "layout save": "layout --save --name NAME",
        "layout use": "layout --name NAME",
        "montecarlo": "simulate",
        "pack diff": "pack list NAME@VERSION",
        "pack judge": "pack outcome N --score X",
        "pack learn": "pack outcome N --score X",
        "pack proposals": "pack change",
        "pack retire": "pack change DELETE NAME",
        "pack route": 'pack assemble "…"',
        "pack show": "pack list NAME",
        "pack use": 'pack assemble "…" --pack NAME',
        "pack weights": 'pack assemble "…" --layers weights',
        "question add": "test FILE --add",
        "replay": "session ID --view regret",
        "report": "status --html FILE",
        "report session": "session ID --html FILE",
        "review accept": "review --accept ID",
        "review decide": "review --accept ID",
        "review reject": "review --reject ID",
        "review scan": "review --scan",
        "searches": "why ID --search N",
        "sort": "filter PANE --sort FIELD",
        "source show": "source list NAME --pieces",
    }
)
"""The present line, by the first words of the former line."""


def say_left(words: Sequence[str]) -> str:
    """Say how a former command is written now; "" for words that are not a former command."""
    for name in (" ".join(words[:2]), *words[:1]):
        if name in LEFT:
            return say_now(name, LEFT[name])
    return ""


def say_now(before: str, now: str) -> str:
    """Return a sentence: `before` is now `now`."""
    return f"`{before}` is now `{now}`."


class Registry:
    """Operations by name."""

    def __init__(self, operations: Iterable[Operation[..., Any]]) -> None:
        self._operations: dict[str, Operation[..., Any]] = {}
        for operation in operations:
            if self._operations.setdefault(operation.name, operation) is not operation:
                raise ValueError(f"Two operations are called {operation.name!r}.")

    @classmethod
    def of_modules(cls, modules: Iterable[ModuleType]) -> Registry:
        """Collect the operations defined in modules; raises ValueError if two have the same name."""
        return cls(value for module in modules for value in vars(module).values() if isinstance(value, Operation))

    def __iter__(self) -> Iterator[Operation[..., Any]]:
        return iter(self._operations.values())

    def __len__(self) -> int:
        return len(self._operations)

    def __contains__(self, name: object) -> bool:
        return name in self._operations

    def __getitem__(self, name: str) -> Operation[..., Any]:
        """Return the operation of this name; raises LineError (a UsageError) when there is none."""
        if name not in self._operations:
            self._refuse(split(name), name)
        return self._operations[name]

    def nouns(self) -> dict[str, list[Operation[..., Any]]]:
        """Return the operations by the first word of their names, in order of registration."""
        grouped: dict[str, list[Operation[..., Any]]] = {}
        for operation in self:
            grouped.setdefault(operation.words[0], []).append(operation)
        return grouped

    def call(self, name: str, /, **arguments: Any) -> Call[Any]:
        """Return a call with values by parameter name; missing ones take their default.

        Names are checked, types are not. Raises LineError for an unknown name.
        """
        chosen = self[name]
        defaults = {parameter.name: parameter.default for parameter in chosen.parameters}
        unknown = sorted(set(arguments) - set(defaults))
        if unknown:
            raise LineError(
                f"{name} has no argument {unknown[0]!r}.", line=name, column=1, way_out=f"Use: {chosen.usage()}"
            )
        return Call(chosen, {**defaults, **arguments})

    def parse(self, line: str) -> Call[Any] | None:
        """Parse a line into a call; None for a blank line or a comment. Raises LineError with the column."""
        words = split(line)
        if not words:
            return None
        if words[0] != "help" and "--help" in words:
            words = [Word("help", words[0].column), *words[: max(1, self.find(words)[1])]]
        chosen, rest = self._choose(words, line)
        from amgs_app.calls.parsing import read_arguments

        return Call(chosen, read_arguments(chosen, rest, line))

    def find(self, words: Sequence[str]) -> tuple[Operation[..., Any] | None, int]:
        """Find the operation whose name is the longest beginning of the words; return it and its number of words."""
        for count in range(min(3, len(words)), 0, -1):
            chosen = self._operations.get(" ".join(words[:count]))
            if chosen is not None:
                return chosen, count
        return None, 0

    def suggest(self, typed: str) -> tuple[str, ...]:
        """Return commands that a mistyped word may mean, best first: those with it as a synonym, else those spelt
        alike.
        """
        meant = tuple(operation.name for operation in self if typed in operation.synonyms)
        return meant[:3] or near(typed, {**self.nouns(), **self._operations})

    def _choose(self, words: list[Word], line: str) -> tuple[Operation[..., Any], list[Word]]:
        """Return the operation that the words name, and the words after its name; raises LineError if there is none."""
        if left := say_left(words):
            raise LineError(left, line=line, column=words[0].column)
        chosen, count = self.find(words)
        if chosen is None:
            self._refuse(words, line)
        return chosen, words[count:]

    def _refuse(self, words: Sequence[Word], line: str) -> NoReturn:
        """Raise LineError for words that name no operation, with similar commands."""
        noun = self.nouns().get(words[0]) if words else None
        if noun and noun[0].name != words[0]:
            known = ", ".join(" ".join(operation.words[1:]) for operation in noun)
            column = words[1].column if len(words) > 1 else words[0].column
            problem = f"`{words[0]}` has no `{words[1]}`" if len(words) > 1 else f"`{words[0]}` needs another word"
            moved = [operation.name for operation in noun if len(words) > 1 and words[1] in operation.synonyms]
            way_out = f"Did you mean {' or '.join(moved)}?" if moved else f"One of: {known}."
            raise LineError(f"{problem}.", line=line, column=column, way_out=way_out)
        first = str(words[0]) if words else ""
        meant = self.suggest(first)
        way_out = f"Did you mean {' or '.join(meant)}?" if meant else "`help` lists all commands."
        raise LineError(
            f"There is no command `{first}`.", line=line, column=words[0].column if words else 1, way_out=way_out
        )


# Imported on first use, so that a screen that has not painted yet can import this module at no cost.
MODULES = {
    "general": "workplace.commands",
    "lifecycle": "lifecycle.commands",
    "source": "memory.commands",
    "consolidation_plan": "lifecycle.care_commands",
    "maintenance": "lifecycle.care_commands",
    "simulate": "decay.commands",
    "block": "memory.commands",
    "entity": "graph.commands",
    "edge": "graph.commands",
    "search": "search.commands",
    "diagnose": "diagnosis.commands",
    "question": "diagnosis.commands",
    "frame": "frames.commands",
    "frame_definitions": "frames.commands",
    "conversation": "conversation.commands",
    "graph": "graph.commands",
    "decay": "decay.commands",
    "calibration": "calibration.commands",
    "traffic": "conversation.commands",
    "tuning": "calibration.commands",
    "exchange": "lifecycle.care_commands",
    "focus": "focus.commands",
    "focus_lifetime": "focus.lifetime_commands",
    "focus_trace": "focus.trace_commands",
    "script": "workplace.operator_commands",
    "workspace": "workplace.operator_commands",
}
"""Modules with operations, by noun, in the order in which `help` lists them; the wings' modules follow."""

FIRST_WORDS = {
    "search": ("search",),
    "why": ("search",),
    "status": ("general",),
    "ingest": ("lifecycle",),
    "inbox": ("lifecycle",),
    "consolidate": ("lifecycle", "consolidation_plan"),
    "source": ("source",),
    "block": ("block",),
    "frame": ("frame", "frame_definitions", "tuning"),
    "graph": ("graph",),
}
"""Modules that define the operations beginning with a common word; only these are imported for a command with that
word.
"""


def _import(nouns: Iterable[str]) -> list[Any]:
    """Import the modules of these nouns."""
    return [import_module(f"amgs_app.{MODULES[noun]}") for noun in nouns]


@lru_cache(maxsize=1)
def standard() -> Registry:
    """Return the registry of all operations."""
    return Registry.of_modules((*_import(MODULES), *(import_module(view.operations) for view in views().values())))


def beginning_with(word: str) -> Registry | None:
    """Return only the operations that begin with this word, None if there are none.

    Imports all modules unless the word is in FIRST_WORDS.
    """
    nouns = FIRST_WORDS.get(word)
    every = standard() if nouns is None else Registry.of_modules(_import(nouns))
    registry = Registry(operation for operation in every if operation.words[0] == word)
    return registry if len(registry) else None


FRONT_ENDS = "Ways to work"

PANELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{view.heading: view.words for view in views().values() if view.heading},
        "Build a memory": ("ingest", "inbox", "consolidate", "source", "import", "export"),
        "Ask it": (
            "search",
            "why",
            "diagnose",
            "test",
            "frame",
            "conversation",
            *(word for view in views().values() if not view.heading for word in view.words),
            "block",
            "entity",
            "edge",
            "select",
            "graph",
            "decay",
        ),
        "Read with a model": ("focus",),
        "Calibrate": ("feedback", "calibration", "calibrate", "metrics", "tune"),
        "Maintain": (
            "status",
            "traffic",
            "operations",
            "undo",
            "verify",
            "enhance",
            "prune",
            "review",
            "secrets",
            "simulate",
        ),
        "Screen, scripts and settings": (
            "show",
            "filter",
            "layout",
            "theme",
            "snapshot",
            "expect",
            "save",
            "settings",
            "help",
        ),
    }
)
"""First words of commands, by the heading under which help lists them."""

NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "inbox": "List blocks waiting to be consolidated, or check whether it is time.",
        "source": "Show, update, delete and watch where texts came from.",
        "block": "Show, find and correct single blocks.",
        "edge": "Add, remove and weigh edges by hand.",
        "frame": "Assemble, define and compare frames.",
        "conversation": "Keep conversations, and choose what a model reads of them.",
        **{view.words[0]: view.about for view in views().values()},
        "graph": "Explore the graph: neighbours, paths, communities, counts.",
        "decay": "Show how relevance falls, and preview other rates.",
        "secrets": "Find and mask keys, tokens and passwords that a memory holds.",
        "focus": "Run a language model over a lifetime context and steer its detail.",
    }
)
"""Description of each group of commands, by its first word; for words that are not commands themselves."""

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "demo": "demo",
        "run": "run tour.amgs --out pictures --check",
        "shell": "shell",
        "serve": "serve --port 8420",
        "gateway": "gateway --upstream https://api.openai.com --budget 16000",
        "mcp": "mcp --connect http://127.0.0.1:8420",
        "serve-web": "serve-web --port 8000",
        "token new": "token new reader --tokens tokens.json --may read",
        "agents": "agents --watch ~/notes",
    }
)
"""An example line of each command that is not an operation; operations have their own."""


def describe(words: str) -> str:
    """Return a line about the commands that begin with these words; raises KeyError for an undescribed group."""
    return NOUNS[words]
