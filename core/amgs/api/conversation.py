"""`memory.conversation`: conversations, stored in full, and the part that a model should read for a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amgs import bounds
from amgs.api.conversation_contexts import ConversationContexts
from amgs.api.sources import SourceLibrary
from amgs.clock import local_now
from amgs.conversation import citing, keeping, protection
from amgs.conversation.citing import source, text_of
from amgs.conversation.findings import names_of
from amgs.conversation.material import MessageCounter
from amgs.conversation.messages import GivenMessage, read_messages
from amgs.conversation.render import reconstruct
from amgs.conversation.why import elements, of_pieces, read_handles, survival
from amgs.errors import ImpossibleBudgetError, UnknownConversationError, UsageError
from amgs.lifecycle import revision
from amgs.log import journal
from amgs.masking import find_marks, tell_masked
from amgs.text.words import plural
from amgs.types import JournalEntry
from amgs.types.conversation import (
    ROLES,
    ConversationAdded,
    ConversationKept,
    ConversationStats,
    ConversationSummary,
    Message,
    RestoredSpan,
)
from amgs.types.conversation_views import GIVEN_TEXT, RESTORE_LEVELS, ConversationSurvival, RestoreLevel


class Conversations(ConversationContexts):
    """`memory.conversation`, with the changes of stored conversations. Reading writes nothing; `undo` reverts `add` and
    `clear`.
    """

    def add(self, conversation: str, messages: Sequence[GivenMessage]) -> ConversationAdded:
        """Append messages to a stored conversation, and ingest them as raw blocks.

        messages: `Message`, objects in the format of OpenAI or Anthropic, or `{"speaker": …, "text": …}`. Raises
        MessageError if they are no conversation; then nothing is changed.
        """
        storage, now = self._storage, local_now(self._context.clock)
        keeping.check_name(conversation)
        with storage.transaction():
            before = [stored_message.message for stored_message in storage.messages.read_messages(conversation)]
            reading = read_messages(self._context.settings.ingest.mask(messages), now, before)
            texts = (
                text for message in reading.messages for text in (message.text, *(c.arguments for c in message.calls))
            )
            masked = tell_masked(find_marks(texts))
            notes = (*reading.notes, f"{masked}.") if masked else reading.notes
            return keeping.add_messages(storage, conversation, reading.messages, now, before, notes)

    def list(self) -> tuple[ConversationSummary, ...]:
        """Return the stored conversations, by name."""
        return self._storage.messages.conversations()

    def show(self, conversation: str, handle: str = "") -> tuple[Message, ...]:
        """Return the messages of a conversation, or those of a handle."""
        first, last = citing.numbers(handle) if handle else (1, None)
        return tuple(
            stored_message.message for stored_message in keeping.read_held(self._storage, conversation, first, last)
        )

    def validate(self, conversation: str, text: str, handle: str = "") -> ConversationSurvival:
        """Return what of a conversation is in another's text about it, such as a summary, and what that text invents.

        A handle (`#12-15`) in the text restores its messages. handle: messages that the text stands for; default: all.
        Names, numbers, dates, paths, commands and ids that are in no message are invented; sentences must be verbatim.
        """
        history = self.show(conversation)
        chosen = sorted(self._numbers(conversation, [handle], history)) if handle else range(1, len(history) + 1)
        names = names_of([source(message) for message in history], [message.speaker for message in history])
        messages = history[chosen[0] - 1 : chosen[-1]]
        counter = MessageCounter.of(self._context.count_tokens)
        return ConversationSurvival(
            conversation,
            citing.handle(chosen[0], chosen[-1]),
            GIVEN_TEXT,
            survival(elements(messages, names), history, text, read_handles(text)),
            counter.count(text),
            sum(counter.count(source(message)) for message in messages),
            counter.name,
            counter.estimated,
        )

    def restore(
        self, conversation: str, handle: str, level: RestoreLevel = "complete", *, most: int = 12
    ) -> RestoredSpan:
        """Return the messages of a handle: verbatim, or at a shorter level in their own words, with every piece cited
        and every class compared with the originals.

        most: sentences of a session and findings of a class, at a shorter level. Raises UsageError for an unknown
        level, UnknownConversationError for a handle without messages.
        """
        if level not in RESTORE_LEVELS:
            raise UsageError(f"There is no level {level!r}.", way_out=f"The levels are {', '.join(RESTORE_LEVELS)}.")
        limit = bounds.count("most", most)
        first, last = citing.numbers(handle)
        whole = level == "complete"
        history = self.show(conversation, handle) if whole else self.show(conversation)
        messages = history if whole else history[first - 1 : last]
        if not messages or messages[-1].number < last:
            size = self._storage.messages.count(conversation)
            raise UnknownConversationError(
                f"{conversation[:60]!r} has no message {citing.handle(first, last)}.",
                title="No such message",
                way_out=f"Its messages are {citing.handle(1, size)}.",
            )
        named = citing.handle(first, last)
        if whole:
            return RestoredSpan(conversation, named, messages)
        names = names_of([source(message) for message in history], [message.speaker for message in history])
        original_elements = elements(messages, names)
        pieces = reconstruct(messages, original_elements, level, limit)
        window, reached = of_pieces(pieces)
        counter = MessageCounter.of(self._context.count_tokens)
        return RestoredSpan(
            conversation,
            named,
            (),
            level,
            pieces,
            survival(original_elements, messages, window, reached),
            counter.count(text_of(pieces)),
            sum(counter.count(source(message)) for message in messages),
        )

    def keep(
        self, conversation: str, handle: str = "", *, drop: bool = False, budget: int | None = None
    ) -> ConversationKept:
        """Keep messages whole in every context of a conversation from now on, including the gateway's, while they fit
        into its budget; `undo` reverts it.

        drop: stop keeping them; without a handle, all. budget: report whether a context of so many tokens can hold
        them. Raises UnknownConversationError.
        """
        storage, now = self._storage, local_now(self._context.clock)
        with storage.transaction():
            messages = [stored_message.message for stored_message in keeping.read_held(storage, conversation)]
            wanted = self._numbers(conversation, [handle] if handle else [], messages)
            if drop and not handle:
                wanted = self._standing(conversation, messages)
            result = protection.change_kept(storage, conversation, wanted, now, drop=drop)
        if drop or budget is None:
            return result
        try:
            self.optimise(conversation, budget=budget, strategy="mask", keep=result.kept)
        except ImpossibleBudgetError as error:
            return replace(result, impossible=error.message)
        return result

    def stats(self, conversation: str) -> ConversationStats:
        """Return the content of a conversation, by role and in tokens."""
        storage = self._storage
        stored = keeping.read_held(storage, conversation)
        counter = MessageCounter.of(self._context.count_tokens)
        messages = [stored_message.message for stored_message in stored]
        costs = [counter.cost(message) for message in messages]
        answered = {m.answers for m in messages if m.answers}
        ids = sorted({i for stored_message in stored for i in stored_message.blocks})
        roles = []
        for role in ROLES:
            own = [cost for m, cost in zip(messages, costs, strict=True) if m.role == role]
            if own:
                roles.append((role, len(own), sum(own)))
        times = [m.at for m in messages if m.at is not None]
        calls = [call.id for m in messages for call in m.calls]
        raw = sum(block.status == "raw" for block in storage.blocks.get(ids).values())
        return ConversationStats(
            conversation,
            len(messages),
            sum(costs),
            counter.name,
            counter.estimated,
            tuple(roles),
            len(calls),
            sum(call not in answered for call in calls),
            len(ids),
            raw,
            min(times, default=None),
            max(times, default=None),
            protection.handles_of(storage, conversation),
            len(storage.mentions.waiting(conversation)),
        )

    def clear(self, conversation: str) -> JournalEntry:
        """Delete a conversation's messages, and archive its blocks that have no other source."""
        storage, now = self._storage, local_now(self._context.clock)
        with storage.transaction():
            size = len(keeping.read_held(storage, conversation))
            sources = keeping.sources_of(storage, conversation)
            library = SourceLibrary(self._context)
            done = library.apply(library.plan_delete(sources)).operation if sources else None
            if done is None:
                done = journal.write(
                    storage, revision.KIND, now, f"conversation {conversation}, {plural(size, 'message')}", []
                )
            storage.messages.end(conversation, done.id)
            return done
