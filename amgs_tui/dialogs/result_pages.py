"""Results to read, with keys for what can be done with them: a block, and a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from amgs_app import operations
from amgs_tui.dialogs.reader import TextReader

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs.types.diagnosis import Diagnosis
    from amgs_tui.dialogs.reader import Page
    from amgs_tui.host import Host


class BlockPage(TextReader):
    """A page about one block. Its keys close it and open the command line with the block's id, to be finished there."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("t", "begin('block tag {id} --add ')", "tag", id="reader.tag", tooltip="Tag the block"),
        Binding("n", "begin('block note \"')", "note", id="reader.note", tooltip="Write a note on the block"),
        Binding(
            "e",
            "begin('edge add {id} ')",
            "edge",
            id="reader.edge",
            tooltip="Add an edge from the block to another",
        ),
    ]

    def __init__(self, host: Host, block: Block, page: Page) -> None:
        super().__init__("Block", page, "↑ ↓ scroll · t tag · n note · e edge · esc closes")
        self._host = host
        self._block = block

    def action_begin(self, line: str) -> None:
        """Select the block and open the command line with the beginning of a line about it."""
        self.dismiss(None)
        self._host.pick(self._block.id)
        self._host.command(line.format(id=self._block.id[:12]))


class DiagnosisPage(TextReader):
    """A page about one missed fact. Its keys close it."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("c", "apply", "apply", id="diagnosis.apply", tooltip="Carry out the fix; undo takes it back"),
        Binding("t", "test", "test", id="diagnosis.test", tooltip="Make a test of it in a file of questions"),
        Binding("b", "block", "block", id="diagnosis.block", tooltip="Select the block that holds the fact"),
    ]

    def __init__(self, host: Host, found: Diagnosis, page: Page) -> None:
        applies = found.trial is not None and found.trial.fix.applies
        keys = ("c applies the fix", "t makes a test") if applies else ("t makes a test",)
        super().__init__("Diagnosis", page, " · ".join(("↑ ↓ scroll", *keys, "b block", "esc closes")))
        self._host = host
        self._found = found

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A fix that is up to whoever asks is not carried out, and a fact that no block holds has none to select."""
        if action == "apply":
            return self._found.trial is not None and self._found.trial.fix.applies
        return self._found.block is not None if action == "block" else True

    def action_apply(self) -> None:
        """Carry the fix out: the same words are diagnosed again, and what is proposed then is done."""
        found, request = self._found, self._found.request
        recorded = request.kind == "gateway call"
        self.dismiss(None)
        self._host.ask(
            operations.diagnose.fix(
                found.answer,
                missed=found.missed,
                question="" if recorded else request.query,
                frame=request.frame,
                budget=request.budget if request.kind in ("question", "conversation") else None,
                exchange=int(request.id) if recorded else None,
                conversation="" if recorded else request.conversation,
                block=found.block.id if found.block is not None else "",
            )
        )

    def action_test(self) -> None:
        """Open the command line with the line that writes the test, to be finished there."""
        self.dismiss(None)
        question, fact = (text.replace('"', "'") for text in (self._found.request.query, self._found.missed))
        self._host.command(f'question add "{question}" --contains "{fact}" --to questions.yml')

    def action_block(self) -> None:
        self.dismiss(None)
        if self._found.block is not None:
            self._host.pick(self._found.block.id)
