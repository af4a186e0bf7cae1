"""Session files of agents, as drafts of blocks and a conversation: the main conversation, with who said what."""

from __future__ import annotations

from amgs.exchange.importers.importer import ImportOptions
from amgs.exchange.importers.records import ForeignMessage, ForeignRecords, Records, speaker
from amgs.sessions.conversation import SessionConversation
from amgs.sessions.messages import call_text


def read(session: SessionConversation, options: ImportOptions, called: str) -> ForeignRecords:
    """A block for each message of a session, split where it is long. called: the name of its conversation.

    Every record and every turn of the session is counted: it is taken, or left out by what it is.
    """
    records = Records(session.format, options.ingest)
    for kind, all_of_it, others in (
        ("record", session.records, session.other_records),
        ("turn", session.turns, session.other_turns),
    ):
        for what, count in others:
            records.leave(kind, "", what, count)
        records.count(kind, all_of_it - sum(count for _, count in others))
    for what, count in session.mended:
        records.note("tool call", "", f"{what}, kept as text", count)
    messages: list[ForeignMessage] = []
    for one in session.messages:
        message = one.message
        calls = [call_text(call.name, call.arguments) for call in message.calls]
        told = "\n\n".join(part for part in (message.text, *calls) if part.strip())
        who = message.speaker or speaker(message.role)
        meta: dict[str, object] = {"role": message.role, "line": one.line}
        messages.append(ForeignMessage(f"line {one.line}", who, told, message.at, meta, message=message))
    if messages:
        about = {"agent": session.agent}
        records.conversation(messages, "", id=session.id, title=session.title, meta=about, called=called)
    return records.result()
