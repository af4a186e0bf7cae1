"""Read the `key=value` words of a command, and say in one sentence what is wrong with one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from amgs.errors import UsageError
from amgs_app.calls.left import say_now
from amgs_app.calls.marks import PAIR
from amgs_app.terminal.line import near
from amgs_app.terminal.plain_refusals import say_domain

if TYPE_CHECKING:
    from amgs_app.calls.marks import Parameter
    from amgs_app.calls.operation import Operation


class PairError(UsageError):
    """A word that cannot be read as an argument. word: as it was typed."""

    title = "Invalid command"

    def __init__(self, message: str, *, word: str = "", way_out: str = "") -> None:
        super().__init__(message, way_out=way_out)
        self.word = word


def read_pairs(chosen: Operation[..., Any], words: Sequence[str]) -> dict[str, Any]:
    """Read the words that give positional parameters and keys; return the values by parameter name.

    `weights.recency=.3` sets one part of a value that has parts. Raises PairError for a word that fits no parameter, is
    given twice, or has an invalid value.
    """
    from pydantic import ValidationError

    from amgs_app.calls.operation import model_of

    free = [parameter for parameter in chosen.pairs.values() if not parameter.is_key]
    values: dict[str, Any] = {}
    typed: dict[str, str] = {}
    for place, word in enumerate(words):
        pair = PAIR.fullmatch(word)
        if pair is not None:
            parameter, text = _parameter_of_key(chosen, word, pair[1], pair[2]), pair[3]
        elif word.startswith("--"):
            raise _refuse_option(chosen, word, words[place + 1 :])
        elif free:
            parameter, text = free[0], word
        else:
            raise PairError(f"Too many words: {word}.", word=word, way_out=f"Use: {chosen.usage()}")
        free = [open_parameter for open_parameter in free if open_parameter is not parameter]
        before = values.get(parameter.name)
        if before is not None and not parameter.many and not (pair and pair[2] and "=" in before):
            raise PairError(f"{parameter.key} is given twice.", word=word, way_out="Give it once.")
        if parameter.many:
            values[parameter.name] = [*(before or ()), text]
        elif pair is not None and pair[2]:
            values[parameter.name] = ",".join((*([before] if before else ()), f"{pair[2]}={text}"))
        else:
            values[parameter.name] = text
        typed[parameter.name] = word
    model = model_of(chosen)
    try:
        read = model.model_validate(values)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        parameter = next(candidate for candidate in chosen.parameters if candidate.name == name)
        if name not in typed:
            missing = parameter.flags[0] + parameter.label if parameter.is_key else parameter.label
            raise PairError(f"{missing} is missing.", way_out=f"Use: {chosen.usage()}") from error
        raise PairError(say_domain(parameter.key, model, fault), word=typed[name]) from error
    return {parameter.name: getattr(read, parameter.name) for parameter in chosen.pairs.values()}


def _parameter_of_key(chosen: Operation[..., Any], word: str, typed: str, part: str | None) -> Parameter:
    """Return the parameter of a key; raises PairError if there is none, or it has no such part."""
    key = typed.replace("-", "_")
    parameter = chosen.pairs.get(key)
    if parameter is None:
        raise PairError(say_unknown("key", key, chosen.pairs), word=word, way_out=f"`help {chosen.name}` lists them.")
    if part and part not in parts_of(parameter):
        raise PairError(say_unknown(f"part of {key}", part, parts_of(parameter)), word=word)
    return parameter


def parts_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the names of a value's parts that may be set alone; empty for a value without parts."""
    if parameter.takes != "weights":
        return ()
    from amgs.types import COMPONENTS

    return COMPONENTS


def say_unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Say that there is no such name, and which known names are similar. what: "key", "option" …"""
    meant = near(name, names)
    return f"There is no {what} {name!r}" + (f"; did you mean {' or '.join(meant)}?" if meant else ".")


def _refuse_option(chosen: Operation[..., Any], word: str, after: Sequence[str]) -> PairError:
    """Return the error for an option that a command with keys does not take; it shows the key that
    replaced it, if any.
    """
    flag, sign, value = word.partition("=")
    key = flag[2:].replace("-", "_")
    if key not in chosen.pairs:
        known = [*chosen.pairs, *(flag[2:] for p in chosen.parameters for flag in p.flags if not p.is_key)]
        return PairError(say_unknown("option", flag[2:], known), word=word, way_out=f"Use: {chosen.usage()}")
    value = value if sign else next(iter(after), "VALUE")
    return PairError(say_now(word if sign else f"{flag} {value}", f"{key}={value}"), word=word)
