"""Names as they are kept and compared: cleaned of what surrounds them, and keyed so that forms of one name meet."""

from __future__ import annotations

import re

_LONGEST, _MOST_WORDS = 60, 7
_EDGES = re.compile(r"^[\W_]+|[^\w+#]+$|_+$")
_MARKUP = re.compile(
    r"[<>{}\[\]|\\`=~^*\"“”\x00-\x08\x0b-\x1f]|://|\bwww\.|\bhref\b|\bsrc\b|\w@\w|&\w+;|::|--|\.\.|\$|[/#%]\w"
    r"|\n\s*\n|\w\(|'\)|\w_\w|\b[a-z]\w*[.:][a-z]|\.\w+:\d|(?<!\w)'|'(?![\w\s])"
)
_FILE = re.compile(
    r"\.(?:py|md|rst|txt|html?|json|toml|ya?ml|cfg|ini|png|svg|gif|jpe?g|whl|zip|gz|sh|c|h|js|ts|org|com|io|net)$", re.I
)
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$|(?<=[A-Z]{2})['’]s$")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NO_NAME = re.compile(
    rf"(?:{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?(?: \d+)?"
    r"|i|we|you|he|she|it|they|yes|no|ok|todo|note|tip|warning|true|false|none|null"
    r"|introduction|overview|usage|features?|documentation|docs|contents|examples?|quick ?start|links|badges?"
    r"|installation|install|requirements|dependencies|getting started|changelog|changes|license|licence|readme|authors?"
    r"|credits|acknowledge?ments|contributing|contributions|development|testing|tests|support|source|download|faq",
    re.IGNORECASE,
)


def clean_name(name: str) -> str:
    """Return a name without quotes, brackets and a possessive at its ends, in one line; empty for what is no name.

    No name holds markup, an address, a path or code, is a number, a single small word or a heading that every manual
    has, or runs on for a whole sentence.
    """
    bare = _EDGES.sub("", _POSSESSIVE.sub("", _EDGES.sub("", name)))
    if not bare or _MARKUP.search(bare) or _FILE.search(bare):
        return ""
    bare = _ARTICLE.sub("", " ".join(bare.split()))
    letters = sum(c.isalpha() for c in bare)
    if (
        len(bare) < 2
        or len(bare) > _LONGEST
        or bare.count(" ") >= _MOST_WORDS
        or letters < 2
        or (bare.islower() and " " not in bare)
        or (2 * letters < len(bare) - bare.count(" ") and not bare.isupper())
        or _NO_NAME.fullmatch(bare)
    ):
        return ""
    return bare


def key(name: str) -> str:
    """Return what forms of one name share: case, white space, an article, a possessive, the plural of an acronym."""
    bare = _ARTICLE.sub("", " ".join(name.split()))
    return _PLURAL.sub("", _POSSESSIVE.sub("", bare)).casefold().replace("-", " ")
