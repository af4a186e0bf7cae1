"""From bytes to text: UTF-8, UTF-16 and UTF-32 by their marks, Western 8-bit text by what it looks like."""

from __future__ import annotations

import codecs

from amgs.ingest.document import UnfitError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 65_536
_REPLACED = "\ufffd"
_MOST_FOREIGN = 0.15
"""Above this share of bytes over 127 a text is in no Western script, and windows-1252 would only make nonsense."""


def decoded(raw: bytes) -> tuple[str, str]:
    """The text, with LF line ends, and a warning (or "") where its encoding had to be guessed.

    Raises UnfitError for what is no text.
    """
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return unified(raw.decode(encoding)), ""
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise UnfitError(f"it begins as {encoding.upper()} and does not go on so") from None
        at = error.start
    if b"\x00" in raw[:_LOOKED_AT]:
        raise UnfitError("it is not UTF-8 but a binary file")
    mended = raw.decode("utf-8", "replace")
    bad = mended.count(_REPLACED)
    if sum(c > "\x7f" for c in mended) > 2 * bad:
        told = f"it is not UTF-8 throughout (byte {at}); {bad} characters were replaced by {_REPLACED}"
        return unified(mended), told
    guessed = _western(raw)
    if guessed is None:
        raise UnfitError(f"it is not UTF-8 (byte {at}); save it as UTF-8")
    return unified(guessed), f"it is not UTF-8 (byte {at}); it was read as windows-1252"


def unified(text: str) -> str:
    """The text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _western(raw: bytes) -> str | None:
    high = [byte for byte in raw if byte > 127]
    if len(high) > _MOST_FOREIGN * len(raw) or any(b < 32 and b not in b"\t\n\r\f\x1b" for b in raw):
        return None
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
