"""Client of a language model server with OpenAI's API, named by `model.server` in the settings.

It writes digests of conversations, splits for `enhance` and more; the texts that it reads for that are sent to the
server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final

import httpx2

from amgs.bounds import check_address
from amgs.errors import ModelError
from amgs.incoming import make_storable

KEY: Final = "AMGS_MODEL_KEY"
"""Environment variable with the server's key, which is never stored."""

SECONDS: Final = 30.0
"""Seconds that an answer may take in total."""

REST: Final = 60.0
"""Seconds without further requests after the server did not answer; otherwise each note of a list would
wait in turn.
"""

LARGEST: Final = 1_000_000
"""Most bytes of an answer."""


class ModelServer:
    """The client; safe to use from any thread.

    address: `http://127.0.0.1:8000/v1#NAME` with the model's name after #; without a name, the first model that the
    server lists. transport: replaces the network in tests. Raises UsageError for an invalid address, or an address that
    contains a key.
    """

    def __init__(
        self, address: str, key: str = "", *, seconds: float = SECONDS, transport: httpx2.BaseTransport | None = None
    ) -> None:
        way_out = f"Give model.server such as http://127.0.0.1:8000/v1#NAME, and its key in the variable {KEY}."
        parts = check_address(address, "a model's server", way_out, fragment=True)
        self._base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}/v1"
        self._named = parts.fragment
        self._seconds = seconds
        self._rests_until = 0.0
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx2.Client(
            timeout=seconds, headers=headers, transport=transport, trust_env=False, follow_redirects=False
        )

    @property
    def name(self) -> str:
        """Name of the model, if known without a request."""
        return self._named or "the model's server"

    def write(self, prompt: str, most_tokens: int) -> str:
        """See `amgs.text.language_model.TextModel`."""
        return self.chat([("user", prompt)], most_tokens)

    def chat(self, messages: Sequence[tuple[str, str]], most_tokens: int) -> str:
        """Return the model's reply to messages, (role, text), at temperature 0. Raises ModelError."""
        if not self._named:
            listed = self._ask("GET", "/models", None)
            self._named = _string(listed, "data", 0, "id")
        asked = {
            "model": self._named,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "max_tokens": most_tokens,
            "temperature": 0,
        }
        return _string(self._ask("POST", "/chat/completions", asked), "choices", 0, "message", "content")

    def close(self) -> None:
        """End its connections."""
        self._http.close()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """Send a request and return its JSON; raises ModelError if it fails or is too slow."""
        begun = time.monotonic()
        if begun < self._rests_until:
            raise _no_answer(f"{self._base} did not answer a moment ago")
        read = bytearray()
        try:
            with self._http.stream(method, self._base + path, json=body) as response:
                for piece in response.iter_bytes():
                    read += piece
                    if len(read) > LARGEST or time.monotonic() - begun > self._seconds:
                        raise httpx2.ReadTimeout("the answer is too long or too slow")
                if response.status_code >= 400:
                    raise _no_answer(f"{self._base} answers {response.status_code}")
            return json.loads(read)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            self._rests_until = time.monotonic() + REST
            raise _no_answer(f"{self._base} does not answer: {error or type(error).__name__}") from error
        except (ValueError, RecursionError) as error:
            raise _no_answer(f"What {self._base} answers is no JSON") from error


def _string(value: Any, *steps: str | int) -> str:
    """Return the text at a path of keys and indexes in an answer; raises ModelError if there is none."""
    for step in steps:
        try:
            value = value[step]
        except (LookupError, TypeError) as error:
            raise _no_answer("The model's server answers in another form than OpenAI's") from error
    if not isinstance(value, str):
        raise _no_answer("The model's server answers without a text")
    return make_storable(value)


def _no_answer(message: str) -> ModelError:
    """Return the error that the server gave no usable answer."""
    return ModelError(f"{message}.", way_out="Check `model.server` in the settings, and whether it runs.")
