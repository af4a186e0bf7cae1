"""Transcripts in the style of the Anthropic interface: messages of blocks, and logs of an agent."""

from __future__ import annotations

from typing import Any

from amgs.exchange.importers.fields import some
from amgs.exchange.importers.importer import ImportOptions
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, Records
from amgs.exchange.importers.transcripts import is_anthropic, is_conversation, is_message, take


class AnthropicImporter:
    """See the module."""

    name: ForeignFormat = "anthropic"
    looked_for = "blocks such as `tool_use` in the content, or a `system` beside `messages` (Anthropic)"

    def recognises(self, data: Any) -> bool:
        """Whether it holds messages and something that only Anthropic has."""
        return (some(data, is_message) or some(data, is_conversation)) and is_anthropic(data)

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each message, split where it is long."""
        records = Records(self.name, options.ingest)
        take(records, data)
        return records.result()
