"""Suggestions for the next step, after an empty result, after a result that misses unconsolidated blocks, and after an
error.

The engines name the subject of an error in neutral words; the commands and keys that help are named here alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from amgs.extras import install_line
from amgs.types import Frame, SearchResult
from amgs_app.results.overview import Overview

if TYPE_CHECKING:
    from amgs_app.engine import Engine


EMPTY = "The memory is empty: `amgs ingest FOLDER`, then `amgs consolidate`."
WORDS_ALONE = (
    "Matched by words, not by meaning: this memory was begun without a sentence encoder. With "
    f"`{install_line('models')}` a new store is begun with it."
)


def hint(engine: Engine, result: Any) -> str:
    """Return a sentence about what a command's result lacks, "" if nothing."""
    if waiting := _count_new_blocks(result):
        return f"{_say_waiting(waiting)}: `amgs consolidate` takes {_pronoun(waiting)} into the memory."
    if not isinstance(result, SearchResult | Frame | Overview):
        return ""
    sentence = _describe_lack(result, engine.memory.counts(), EMPTY, "`amgs consolidate`")
    if not sentence and isinstance(result, SearchResult | Frame) and engine.words_alone:
        return WORDS_ALONE
    return sentence


def hint_by_keys(result: Any, counts: Mapping[str, int]) -> str:
    """Return the same for a frame or a search on the screen, naming keys. counts: number of blocks by status."""
    if waiting := _count_new_blocks(result):
        return f"{_say_waiting(waiting)}: key 1, then c, takes {_pronoun(waiting)} into the memory."
    if not isinstance(result, SearchResult | Frame):
        return ""
    return _describe_lack(result, counts, "The memory is empty: key 1, then i, ingests a folder.", "key 1, then c,")


def _count_new_blocks(result: Any) -> int:
    """Count the new raw blocks that an update of a source brought in; they are found only after consolidation."""
    if getattr(result, "plan", None) is None:
        return 0
    from amgs.lifecycle.revision import Revision

    if not isinstance(result, Revision) or result.operation is None:
        return 0
    pieces = result.plan.pieces
    return result.plan.count("added") + len({piece.by for piece in pieces if piece.kind == "superseded"})


def _say_waiting(number: int) -> str:
    return "1 block waits in the inbox" if number == 1 else f"{number:,} blocks wait in the inbox"


def _pronoun(number: int) -> str:
    return "it" if number == 1 else "them"


def _describe_lack(result: Any, counts: Mapping[str, int], empty: str, consolidate: str) -> str:
    """Return the sentence for an empty memory or for blocks in the inbox, "" if neither holds.

    empty: the sentence for an empty memory. consolidate: how to consolidate, in words of the command line or in keys.
    """
    if not any(counts.values()):
        return empty
    waiting = counts.get("raw", 0)
    if not waiting or (isinstance(result, Frame) and result.name == "INBOX"):
        return ""
    notice, pronoun = _say_waiting(waiting), _pronoun(waiting)
    if isinstance(result, SearchResult):
        return f"{notice}, found by words alone: {consolidate} makes {pronoun} found by meaning too."
    return f"{notice}: {consolidate} takes {pronoun} into the memory."


REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "assembly": "`frame history` lists them.",
        "block": "`block find TEXT` looks for it.",
        "category": "`--new` allows it.",
        "check": "Run `verify`.",
        "draft": "`consolidate plan` lists them.",
        "export": "`export PATH` writes an export.",
        "feedback": "Use `feedback useful ID` or `feedback useless ID`.",
        "forgotten": "`focus forget --list` shows it, `focus forget --restore` brings it back.",
        "frame": "`frame define` changes it.",
        "import": "`import PATH --from FORMAT` names the format.",
        "ingest": "`ingest --file FILE` takes a single file.",
        "damage": "`focus open --lifetime DIR --mend` keeps what is sound.",
        "lifetime": "`focus open --lifetime DIR` creates a lifetime.",
        "loss": "`verify --accept-loss` continues with what is left.",
        "masked": "`secrets scan --restore N` puts them back.",
        "missing": "`ingest`, `import` and `conversation add` create a store.",
        "operation": "`operations` lists the journal.",
        "place": "`--store PATH` opens another store; AMGS_DATA names another folder for them.",
        "proposal": "`enhance` lists them.",
        "reading": "Leave out `--read-only`, if you passed it.",
        "review": "`review` shows the queue, `review --reject ID` dismisses a finding.",
        "room": "`--read-only` reads without writing.",
        "source": "`source list` shows them.",
        "step": "`focus step` decodes.",
        "store": "`--store PATH` opens another store.",
        "tag": "`focus forget NODE --tag WORD --release` removes a tag.",
        "unwritable": "`--read-only` does, `--store PATH` opens another store.",
    }
)
"""What to type, by the subject (`about`) of an error."""


def way_out_of(error: BaseException) -> str:
    """Return what to do about an error: the error's own way out, and the command for its subject."""
    way_out = str(getattr(error, "way_out", ""))
    hint = REMEDIES.get(str(getattr(error, "about", "")), "")
    return " ".join(words for words in (way_out, hint) if words)
