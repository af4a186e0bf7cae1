"""The picture in docs/gateway.md: `python scripts/gateway_picture.py docs/tour/gateway.svg`.

A gateway on this program's own model and an empty memory, an agent whose history is longer than the budget, and the
workstation that watches them. It listens where a gateway listens by default, so no other may run meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from amgs_app.engine import Options
from scripts.cast import NOW, Cue, recorder
from scripts.cast_files import Cast, still_svg

PORT = 8420
ADDRESS = f"http://127.0.0.1:{PORT}"
PATIENCE = 60.0
"""Seconds to wait for the gateway."""
BUDGET = 500
PUMPS = 40
ATTEMPTS = 5
"""The first request loads the models and embeds the history, which may take longer than a request waits for."""
SIZE = (110, 32)
QUESTION = "To how many bar was valve 12 set?"


def history() -> list[dict[str, str]]:
    """What the agent sends: two messages a pump, and a question about one of them."""
    told = []
    for pump in range(1, PUMPS + 1):
        note = f"Note {pump}: pump {pump} was oiled on day {pump}, and valve {pump} was set to {3 * pump} bar."
        told.append({"role": "user", "content": note})
        told.append({"role": "assistant", "content": f"Noted: pump {pump}."})
    return [*told, {"role": "user", "content": QUESTION}]


@contextmanager
def gateway(store: Path) -> Iterator[None]:
    """A gateway that answers; raises RuntimeError where it does not begin."""
    words = ["--store", str(store), "--now", NOW, "--seed", "7"]
    command = [sys.executable, "-m", "amgs_tui", "gateway", "--upstream", "own", "--budget", str(BUDGET), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            said = ""
            for line in running.stderr:
                said += line
                if line.startswith(f"Serving on {ADDRESS}"):
                    break
            else:
                raise RuntimeError(said)
            until_it_listens()
            yield
        finally:
            running.terminate()


def until_it_listens() -> None:
    """Wait until the gateway takes connections; raises TimeoutError where it never does."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        with suppress(OSError), socket.create_connection(("127.0.0.1", PORT), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"Nobody listens on port {PORT}.")


def ask(messages: list[dict[str, str]]) -> str:
    """Ask the model through the gateway; gives what the gateway says of what it sent."""
    body = {"model": "own", "messages": messages, "max_tokens": 16}
    headers = {"Content-Type": "application/json", "AMGS-Conversation": "pumps"}
    request = urllib.request.Request(f"{ADDRESS}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return str(answer.headers["AMGS-Context"])


async def picture() -> str:
    """The workstation at the gateway, its conversation in front."""
    async with recorder(Options(connect=ADDRESS), SIZE) as made:
        await made.play([Cue("press", "8 z")])
        palette = made.palette
        cast = Cast(*SIZE, "What a model had in front of it", tuple(made.stills), palette.text, palette.background)
    return still_svg(cast, len(cast.stills) - 1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the picture to the file that is named, and print what was sent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder, gateway(Path(folder) / "gateway.duckdb"):
        for _ in range(ATTEMPTS):
            told = ask(history())
            if not told.startswith("untouched"):
                break
        print(told)
        given.out.write_text(asyncio.run(picture()), encoding="utf-8")


if __name__ == "__main__":
    main()
