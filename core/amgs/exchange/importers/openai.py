"""Transcripts in the style of the OpenAI interface: chat messages and items of responses."""

from __future__ import annotations

from typing import Any

from amgs.exchange.importers.fields import some
from amgs.exchange.importers.importer import ImportOptions
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, Records
from amgs.exchange.importers.transcripts import is_anthropic, is_conversation, is_message, take


class OpenAIImporter:
    """See the module."""

    name: ForeignFormat = "openai"
    looked_for = "`messages` with a `role` and a `content` (OpenAI)"

    def recognises(self, data: Any) -> bool:
        """Whether it holds messages and no part that only Anthropic has."""
        return (some(data, is_message) or some(data, is_conversation)) and not is_anthropic(data)

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each message, split where it is long."""
        records = Records(self.name, options.ingest)
        take(records, data)
        return records.result()
