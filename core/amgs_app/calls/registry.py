"""Find operations by name, and parse a line into a call.

Palette, keys, shell, scripts and command line all choose from one Registry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

from amgs_app.calls.call import Call
from amgs_app.calls.left import say_left
from amgs_app.calls.operation import Operation
from amgs_app.terminal.line import LineError, Word, near, split


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
