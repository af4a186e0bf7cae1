"""Which command or option helps after an error: the engines say what to do in neutral words and name the subject."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "assembly": "`frame history` lists them.",
        "block": "`block find TEXT` looks for it.",
        "category": "`--new` allows it.",
        "check": "Run `verify`.",
        "draft": "`consolidate plan` lists them.",
        "export": "`export PATH` writes one.",
        "feedback": "Use `feedback useful ID` or `feedback useless ID`.",
        "forgotten": "`focus forget --list` shows it, `focus restore` brings it back.",
        "frame": "`frame define` changes it.",
        "import": "`import PATH --from FORMAT` names the format.",
        "ingest": "`ingest --file FILE` takes a single file.",
        "ledger": "Use `--ledger FILE`.",
        "lifetime": "`focus open --lifetime DIR` creates one.",
        "loss": "`verify --accept-loss` continues with what is left.",
        "migration": "`migrate SRC DST` goes on where it stopped; with `--restart` it begins anew.",
        "missing": "`ingest`, `import` and `conversation add` create a store.",
        "operation": "`operations` lists the journal.",
        "proposal": "`enhance --dry-run` lists them.",
        "reading": "Leave out `--read-only`.",
        "review": "`review list` shows the queue, `review decide ID reject` dismisses a finding.",
        "run": "`--resume` continues a run, `--out DIR` chooses another folder.",
        "source": "`source list` shows them.",
        "step": "`focus step` decodes.",
        "store": "`--store PATH` opens another store.",
        "tag": "`focus tag NODE --release` removes a tag.",
    }
)
"""What to type, by the subject of an error."""


def way_out_of(error: BaseException) -> str:
    """What to do about an error: its own words, and the command or the option for it."""
    told = str(getattr(error, "way_out", ""))
    hint = REMEDIES.get(str(getattr(error, "about", "")), "")
    return " ".join(words for words in (told, hint) if words)
