"""The importers, and which of them a document is for."""

from __future__ import annotations

from typing import Any

from amgs.errors import InputError
from amgs.exchange.importers.chatgpt import ChatGPTImporter
from amgs.exchange.importers.claude import ClaudeImporter
from amgs.exchange.importers.graphiti import GraphitiImporter
from amgs.exchange.importers.importer import Importer, ImportOptions
from amgs.exchange.importers.langgraph import LangGraphImporter
from amgs.exchange.importers.letta import LettaImporter
from amgs.exchange.importers.mem0 import Mem0Importer
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords
from amgs.exchange.importers.transcripts import TranscriptImporter
from amgs.sessions.registry import FORMATS

IMPORTERS: tuple[Importer, ...] = (
    Mem0Importer(),
    LettaImporter(),
    GraphitiImporter(),
    LangGraphImporter(),
    ChatGPTImporter(),
    ClaudeImporter(),
    TranscriptImporter("openai", "OpenAI"),
    TranscriptImporter("anthropic", "Anthropic"),
)


def read(data: Any, options: ImportOptions, format: ForeignFormat | None = None) -> ForeignRecords:
    """The records of a parsed document, in the format it is recognised by or the one that is named.

    Raises InputError for a document of no known format, or of several, and where nothing in it was found.
    """
    importer = _named(format) if format is not None else recognised(data)
    found = importer.read(data, options)
    if not found.found:
        raise InputError(
            f"Nothing was found in the document that a file of {importer.program} has.",
            way_out="Choose another format, or another file.",
            about="import",
        )
    return found


def _named(format: str) -> Importer:
    found = next((one for one in IMPORTERS if one.name == format), None)
    if found is None:
        names = ", ".join(one.name for one in IMPORTERS)
        raise InputError(f"{format!r} is no format that can be imported.", way_out=f"Choose one of: {names}.")
    return found


def recognised(data: Any) -> Importer:
    """The importer of a document, by what stands in it; raises InputError for none and for several."""
    fits = [one for one in IMPORTERS if one.recognises(data)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = " and ".join(one.name for one in fits)
        raise InputError(
            f"The document could be of several formats: {names}.",
            way_out="Say which of them it is.",
            about="import",
        )
    agents = dict.fromkeys(one.agent for one in FORMATS)
    *exports, openai, anthropic = (one.program for one in IMPORTERS)
    raise InputError(
        f"The document is of no known format: it is no session of {', '.join(agents)}, "
        f"no export of {', '.join(exports)}, and no list of messages in the style of {openai} or {anthropic}.",
        way_out="Say which format it is, or take the text in as a note.",
        about="import",
    )
