"""Find the sentences of a text: by where they stand in it, or as prose without code, markup, addresses,
tables and boilerplate. Rules that find names, values and claims read prose, so that none comes from code or
markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape

from amgs.text.markdown import remove_plumbing, split_fences

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+[”’」』）]*|\n+")
_SHORT = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|approx|No|Jr|Sr|Prof))\.$")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence, without the white space around it."""
    last = 0
    for fence in _FENCE.finditer(text):
        yield from _within(text, last, fence.start())
        last = fence.end()
    yield from _within(text, last, len(text))


def units(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences of a text, and of the lines that are none, as in blocks of code."""
    last = 0
    for start, end in sentences(text):
        yield from _lines(text, last, start)
        yield start, end
        last = end
    yield from _lines(text, last, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _LINE.finditer(text, start, end):
        left = len(match[0]) - len(match[0].lstrip())
        yield match.start() + left, match.start() + len(match[0].rstrip())


def _within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _SHORT.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        yield from _strip_span(text, at, stop.end())
        at = stop.end()
    yield from _strip_span(text, at, end)


def _strip_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without white space at its ends; nothing where it is blank."""
    piece = text[start:end]
    left, right = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    if left < right:
        yield start + left, start + right


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_RAW_HTML = re.compile(r"<(script|style|pre|svg|table)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style|svg)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_BADGE = re.compile(r"\[\s*!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?\s*\](?:\([^)]*\)|\[[^\]]*\])?")
_FAR_PICTURE = re.compile(r"!\[[^\]]*\](?:\(\s*<?(?:https?:)?//[^)]*\)|\[[^\]]*\])", re.IGNORECASE)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^)\n]*\)|\[[^\[\]\n]*\])")
_WIKI = re.compile(r"\[\[.*?\]\]")
_WIKI_WORDS = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|<[^<>\s]+@[^<>\s]+>|</?[A-Za-z][\w-]*(?:\s[^<>]*)?>")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|[a-z]+);", re.IGNORECASE)
_URL = re.compile(r"(?:\b(?:https?|ftp|git|ssh|file|mailto)(?:\+\w+)?:/{0,2}|\bwww\.)[^\s<>\"'`)\]]+", re.IGNORECASE)
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]+\]:[ \t]*\S.*$", re.MULTILINE)
_RST_LINK = re.compile(r"`([^`<>\n]*?)\s*<[^<>]*>`_{1,2}")
_RST_NAMED = re.compile(r"`([^`\n]+)`_{1,2}(?!\w)|(?<![\w])([A-Za-z][\w.-]*)_(?=[\s.,;:)]|$)")
_RST_ROLE = re.compile(r":[a-z][\w:+-]*:`([^`\n]+?)`", re.IGNORECASE)
_RST_SUBSTITUTION = re.compile(r"(?<![\w|])\|\w[\w .-]*(?<! )\|_{0,2}(?![\w|])")
_GAP = re.compile(r"\n(?:[ \t]*\n){2,}")
_DIRECTIVE = re.compile(r"^[ \t]*\.\.(?:[ \t]+(?:\S.*)?)?$", re.MULTILINE)
_OPTIONS = r"(?:\n[ \t]+:[\w-]+:.*)*"
_FAR_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:_[^\n]*|(?:\|[^|\n]+\|[ \t]+)?(?:image|figure|raw|include|contents|toctree)::.*"
    rf"{_OPTIONS})$",
    re.MULTILINE,
)
_DIRECTIVE_HEAD = re.compile(rf"^[ \t]*\.\.[ \t]+[\w:-]+::[ \t]*(.*){_OPTIONS}$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*:[\w -]+:(?:[ \t]|$)")
_RULE = re.compile(r"^[ \t]*(?:[=\-`:'\"~^_*+#.][ \t]*){3,}$")
_TABLE = re.compile(r"^[ \t]*(?:\|.*\||\+[-=+ ]+\+|.*\S[ \t]*\|[ \t]*\S.*\|.*|[=-]{2,}(?:[ \t]+[=-]{2,})+)[ \t]*$")
_TABLE_RULE = re.compile(r"^(?=.*[-=]{2})[|+:=\-\s]+$")
_SHELL = re.compile(
    r"^[ \t]*(?:\$ |>>> |\.\.\. |# (?:apt|pip|make)\b|In \[\d+\]:|(?:pip3?|conda|brew|npm|cargo|git|sudo) [\w-])"
)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:(?:from [\w.]+ )?import \w|def \w+\(|class \w+[(:]|return\b|#include"
    r"|[\w.]+\s*=\s*[\w.'\"\[{(]|[{}();]+$"
    r"|@\w+)|[;{}]\s*$|\w\(\)|=>|::\w"
)
_NO_PROSE = (_RULE, _TABLE, _FIELD, _SHELL, _CODE_LINE)
_CODE_SPAN = re.compile(r"(`{1,3})(?!`)([^`\n]+?)\1(?!`)")
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?![\w*])|(?<!\w)_{1,3}(?=\w)|(?<=[\w.!?])_{1,3}(?!\w)")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+")

_LICENCE = re.compile(
    r"\bcopyright\b|\(c\) ?\d{4}|©|\blicen[cs]e[ds]?\b|\bwarrant(?:y|ies)\b|\ball rights reserved\b|\bas is\b[\"”]"
    r"|^\s*--? +\S.*\d{4}|\bpermission (?:is|notice)\b|\bredistribut|\bliab(?:le|ility)\b|\bSPDX\b",
    re.IGNORECASE,
)
_ISSUE = re.compile(
    r"(?<!\w)(?:#|GH-?|PR ?#?|bpo-?|gh-|issue ?#?|pull request ?#?|bug ?#?|closes:? ?#?|CVE-)\d+(?:-\d+)?",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?<![\w.])v?\d+(?:\.\d+){2,}[\w.+-]*|(?<![\w.])v\d+(?:\.\d+)*\b|[<>=~!]=[ \t]*\d[\w.+-]*"
    r"|\b(?:[Vv]ersions?|[Rr]eleases?|Python|Java|Perl|Ruby|Node(?:\.js)?)[ \t]*\d+(?:\.(?:\d+|x))*[\w+]*"
    r"|(?<!\w)\d+(?:\.\d+)*\.x\b"
)
_RELEASE = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?\[?(?:v(?:ersion|\.)?[ \t]*|release[ \t]+|changes in (?:version )?"
    r"|[a-z][\w.-]* \(?)?"
    r"\d+(?:\.\d+)+[\w.+-]*\)?\]?(?![\w%°])[^.!?]{0,40}$",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"^\W*(?:change ?log|changes|release (?:notes|history)|history|what'?s new|news)\W*$", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def prose(text: str) -> str:
    """Return the text without code, markup, addresses and tables; the remaining lines stay lines.

    Marked text stays: a link's label, emphasised words, a word set as code. Headings keep their signs, and `[[links]]`
    stay.
    """
    bare = "\n".join(part for part, code in split_fences(text) if not code)
    if not any(sign in bare for sign in "<[`|*_=:&@$>") and "  " not in bare:
        return bare
    bare = _RAW_HTML.sub("\n", _COMMENT.sub(" ", bare))
    return "\n".join(_inline(line) for line in _sentences(bare)).strip("\n")


def _sentences(text: str) -> Iterator[str]:
    """Yield the lines that may have sentences: none of a table, a literal block, a directive or a definition."""
    literal = False
    before, blank, listed = "", True, False
    for line in _DEFINITION.sub("", _DIRECTIVE.sub("", text)).split("\n"):
        if not line.strip():
            blank = True
            yield ""
            continue
        indent = len(line) - len(line.lstrip())
        if literal and indent:
            continue
        literal = False
        marked = bool(_BULLET.match(line))
        # Four columns after an empty line are code, unless they go on with a list or are set in as prose.
        code = indent >= 4 and not marked and not listed and (blank or not before) and not line.rstrip().endswith(".")
        if not code and not any(form.search(line) for form in _NO_PROSE):
            literal = line.rstrip().endswith("::")
            before = line
            yield line
        listed = marked or (listed and indent > 0)
        blank = False


def _inline(line: str) -> str:
    """Return a line without inline markup and mail addresses; `[[links]]` stay."""
    if not any(sign in line for sign in "<[`|*_&@:"):
        return line
    links: list[str] = []

    def hide_link(link: re.Match[str]) -> str:
        links.append(link[0])
        return f"\x00{len(links) - 1}\x00"

    text = _MAIL.sub(" ", _ENTITY.sub(" ", _words(_IMAGE.sub(" ", _WIKI.sub(hide_link, line)))))
    return re.sub(r"\x00(\d+)\x00", lambda m: links[int(m[1])], text)


def _words(line: str) -> str:
    """Return a line without markup: links keep their labels, and addresses are removed."""
    # A badge is an image within a link; what is left of it has no label.
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", line))
    text = _RST_ROLE.sub(r"\1", _RST_LINK.sub(r"\1", text))
    text = _RST_SUBSTITUTION.sub(" ", text)
    text = _URL.sub(" ", _TAG.sub(" ", text))
    text = _RST_NAMED.sub(lambda m: m[1] or m[2], text)
    return _EMPHASIS.sub("", _CODE_SPAN.sub(r"\2", text)).replace("`", "")


@lru_cache(maxsize=4096)
def statements(text: str) -> str:
    """Return the prose of a text that may make statements: without licence and copyright lines, change lists, lines
    about issues, and without version and issue numbers.
    """
    lines: list[str] = []
    released = False
    for line in prose(text).split("\n"):
        if _RELEASE.match(line) or _CHANGES.match(line):
            released = True
            continue
        if line.startswith("#"):
            released = False
        if _LICENCE.search(line) or (released and line.strip()) or (_BULLET.match(line) and _ISSUE.search(line)):
            continue
        lines.append(_VERSION.sub(" ", _ISSUE.sub(" ", line)))
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def readable(text: str) -> str:
    """Return the words of a text as a reader sees it rendered, with code and tables.

    Comments, tags, badges, remote pictures, link definitions, rulers and addresses are removed; a link keeps its label,
    a local picture its description. A text of only markup is returned unchanged.
    """
    shown = "\n".join(_strip_markup(part, code) for part, code in split_fences(text)).strip("\n")
    return shown if any(c.isalnum() for c in shown) else text


def _strip_markup(part: str, code: bool) -> str:
    """Return a part of a text as it reads when rendered. code: the part is a fenced code block."""
    if code:
        return "\n".join(part.split("\n")[1:-1])
    bare = _HIDDEN.sub(" ", _COMMENT.sub(" ", remove_plumbing(part)))
    bare = _DIRECTIVE_HEAD.sub(r"\1", _FAR_DIRECTIVE.sub("", bare))
    bare = _PICTURE.sub(r"\1", _FAR_PICTURE.sub(" ", _BADGE.sub(" ", bare)))
    lines: list[str] = []
    for line in _WIKI_WORDS.sub(lambda m: m[2] or m[1], bare).split("\n"):
        if _RULE.match(line) or _TABLE_RULE.match(line):
            continue
        line = _RST_SUBSTITUTION.sub(" ", line)
        lines.append(unescape(_words(line.replace("|", " ") if _TABLE.match(line) else line)))
    return _GAP.sub("\n\n", "\n".join(lines))


def code_share(text: str) -> float:
    """Return how much of a text is no prose, in [0, 1], by characters that are no white space."""
    whole = len("".join(text.split()))
    return 1.0 - len("".join(prose(text).split())) / whole if whole else 0.0
