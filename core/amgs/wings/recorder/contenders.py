"""Memories of others that can be asked: plain files, LangGraph's store, mem0, any command, recorded answers.

A command is started once. It reads a line of JSON a question, `{"question": …}`, and writes one, `{"texts": […]}`, the
best first. A file of recorded answers has such lines with both.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from amgs import extras
from amgs.diagnosis.facts import stems
from amgs.errors import InputError, UsageError
from amgs.sessions.lines import fields, lines_of
from amgs.types import Vector
from amgs.wings.recorder.foreign_memory import ForeignMemory
from amgs.wings.recorder.versus import Contender

Ask = Callable[[str], Sequence[str]]
Embed = Callable[[Sequence[str]], Vector]
KNOWN: Final = "amgs, plain-files=DIR, langgraph, mem0, recorded, NAME=FILE.jsonl, NAME=COMMAND"
_FILES: Final = (".md", ".txt", ".rst", ".org")
_MOST: Final = 100


def contender(
    given: str,
    texts: Sequence[str],
    *,
    amgs: Ask,
    embed: Embed,
    dimension: int,
    recorded: Callable[[], ForeignMemory],
    held: ExitStack,
) -> Contender:
    """The memory that is named. texts: what those hold that hold nothing yet. amgs: asks our own. embed, dimension:
    of vectors, for those that need them. recorded: the memory of whose searches spans tell. held: ends what is started.

    Raises UsageError for a name that is none, InputError for a file that cannot be read, and MissingExtraError.
    """
    name, _, value = given.partition("=")
    if name == "amgs" and not value:
        return Contender(name, amgs)
    if name == "langgraph" and not value:
        return Contender(name, _of_langgraph(texts, embed, dimension))
    if name == "mem0" and not value:
        return Contender(name, _of_mem0(texts, embed, dimension, held))
    if name == "recorded" and not value:
        return Contender(name, _of_recorded(recorded()))
    if name == "plain-files" and value:
        return Contender(name, _of_files(Path(value)))
    if not name or not value:
        raise UsageError(f"{given!r} is no memory that can be asked.", way_out=f"Known: {KNOWN}.")
    if value.endswith(".jsonl"):
        return Contender(name, _of_answers(Path(value)))
    return Contender(name, _of_command(name, value, held))


def _of_files(folder: Path) -> Ask:
    """Paragraphs by how many of the question's words they hold, the shorter first: what an agent finds that looks for
    words in files.
    """
    paths = (
        [path for path in sorted(folder.rglob("*")) if path.suffix in _FILES] if folder.is_dir() else [folder]
    )
    try:
        whole = [path.read_text("utf-8", "replace") for path in paths]
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}.", way_out="Choose another.") from error
    parts = [part.strip() for text in whole for part in text.split("\n\n") if part.strip()]
    words = [stems(part) for part in parts]

    def ask(question: str) -> list[str]:
        asked = stems(question)
        counted = [(len(asked & held), -len(part), part) for held, part in zip(words, parts, strict=True)]
        return [part for count, _, part in sorted(counted, reverse=True) if count]

    return ask


def _of_langgraph(texts: Sequence[str], embed: Embed, dimension: int) -> Ask:
    """LangGraph's store in memory, with vectors of our own encoder."""
    with extras.explained("langgraph"):
        from langgraph.store.memory import InMemoryStore

    store = InMemoryStore(
        index={
            "dims": dimension,
            "embed": lambda many: [row.tolist() for row in embed(list(many))],
            "fields": ["text"],
        }
    )
    for number, text in enumerate(texts):
        store.put(("versus",), str(number), {"text": text})
    return lambda question: [
        str(one.value["text"]) for one in store.search(("versus",), query=question, limit=_MOST)
    ]


def _of_mem0(texts: Sequence[str], embed: Embed, dimension: int, held: ExitStack) -> Ask:
    """mem0 (2.2) as it stores what it is given (`infer=False`), with vectors of our own encoder: so it asks no model
    and needs no key. It writes into a folder that goes afterwards, and its telemetry is off.
    """
    folder = held.enter_context(TemporaryDirectory())
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": folder}
    try:
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory
    except ModuleNotFoundError as error:
        raise UsageError(
            "mem0 is not installed.", way_out="Install it: `pip install mem0ai langchain`."
        ) from error

    class OwnVectors(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[float(value) for value in row] for row in embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    memory = Memory.from_config(
        {
            "history_db_path": f"{folder}/history.db",
            "llm": {"provider": "openai", "config": {"api_key": "none"}},  # made, and never asked
            "embedder": {"provider": "langchain", "config": {"model": OwnVectors()}},
            "vector_store": {
                "provider": "qdrant",
                "config": {"embedding_model_dims": dimension, "path": f"{folder}/vectors"},
            },
        }
    )
    held.callback(memory.vector_store.client.close)
    for text in texts:
        memory.add(text, user_id="versus", infer=False)

    def ask(question: str) -> list[str]:
        found = memory.search(question, filters={"user_id": "versus"}, top_k=_MOST, threshold=0.0)
        return [str(one["memory"]) for one in found["results"]]

    return ask


def _of_recorded(memory: ForeignMemory) -> Ask:
    """What a search that spans tell of gave for the same question, the latest; nothing where it was never asked."""
    asked = {" ".join(one.query.casefold().split()): one for one in memory.searches()}

    def ask(question: str) -> list[str]:
        found = asked.get(" ".join(question.casefold().split()))
        return [] if found is None else [one.content for one in found.records]

    return ask


def _of_answers(path: Path) -> Ask:
    known = {
        str(line.value["question"]): _texts(line.value)
        for line in lines_of(path)
        if line.value is not None and "question" in line.value
    }
    if not known:
        raise InputError(f"{path} holds no answer.", way_out="Give lines with “question” and “texts”.")
    return lambda question: known.get(question, [])


def _of_command(name: str, line: str, held: ExitStack) -> Ask:
    try:
        running = subprocess.Popen(
            shlex.split(line), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be started: {error}.", way_out=f"Known: {KNOWN}.") from error
    held.callback(_end, running)

    def ask(question: str) -> list[str]:
        assert running.stdin is not None and running.stdout is not None
        try:
            running.stdin.write(json.dumps({"question": question}) + "\n")
            running.stdin.flush()
            answer = running.stdout.readline()
            return _texts(fields(json.loads(answer)))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{name} gave no line of JSON for {question[:60]!r}.", way_out="Try its command by hand."
            ) from error

    return ask


def _end(running: subprocess.Popen[str]) -> None:
    running.terminate()
    for pipe in (running.stdin, running.stdout):
        with suppress(OSError):  # what was not read any more
            if pipe is not None:
                pipe.close()
    running.wait()


def _texts(given: Mapping[str, Any]) -> list[str]:
    texts = given.get("texts")
    return [str(one) for one in texts] if isinstance(texts, list) else []
