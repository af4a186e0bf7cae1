"""Find secrets in text: keys, tokens, passwords and private keys.

Forms of keys come from `detect-secrets`, and from the tables here where it has none or is too narrow. The package is
loaded (in a quarter of a second) only for a text that may have such a key. A new kind of secret is an entry in a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

_ADDRESS: Final = "password in an address"
_PREFIXES: Final = {
    "GitHub token": "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    "GitLab token": "glpat- gldt- glft- glsoat- glrt- glrtr- glcbt- glptt- glimt- glagent- gloas- glffct- glwt-",
    "Slack token": "xoxb- xoxp- xoxa- xoxe- xoxo- xoxr- xoxs- xoxc- xoxd- xoxe.xoxp- xapp-",
    "Anthropic key": "sk-ant-",
    "OpenAI key": "sk-proj- sk-svcacct- sk-admin- sk-",
    "Stripe key": "sk_live_ rk_live_ sk_test_ rk_test_ whsec_",
    "npm token": "npm_",
    "PyPI token": "pypi-",
    "Google key": "AIza ya29. GOCSPX- 1//0",
    "API key": "hf_ gsk_ xai- r8_ pplx- nvapi- dop_v1_ doo_v1_ dor_v1_ shpat_ shpca_ shppa_ shpss_ dapi dckr_pat_ "
    "dckr_oat_ hvs. hvb. hvr. lin_api_ ntn_ PMAK- NRAK- glsa_ glc_ sntrys_ sntryu_ ATATT3 sbp_ sb_secret_ dp.pt. "
    "dp.st. dp.ct. pul- rubygems_ figd_ nfp_ lsv2_pt_ lsv2_sk_ EAA atlasv1. tskey- xkeysib- xsmtpsib- tvly- pcsk_ "
    "tgp_v1_ pat-na1- pat-eu1- sq0atp- AKCp ops_eyJ rzp_live_ shippo_live_ LTAI fw_",
    "private key": "AGE-SECRET-KEY-1",
}
"""Prefixes of keys; what follows is random."""
_BY_PREFIX: Final = tuple(
    (prefix, kind, rf"(?<![A-Za-z0-9_-]){re.escape(prefix)}([\w-]{{16,}})(?:[.=+/][\w=+/-]{{4,}})*=*")
    for kind, prefixes in _PREFIXES.items()
    for prefix in prefixes.split()
)
_RUN: Final = re.compile(r"[\w-]{16}")
_LONG_RUN: Final = re.compile(r"[\w-]{27}")
"""What prose seldom has, and every key with a form of its own; those that the library alone knows are longer."""
_LIBRARY_WORDS: Final = ("GR1348941", "T3BlbkFJ", "AccountKey=", "sq0csp-")
_OF_LIBRARY: Final = (
    r"\b(?:SG\.[\w-]{22}|[0-9a-z]{32}-us\d|\d{8,10}:[\w-]{35}|[AS][CK][a-z0-9]{32}|"
    r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27})"
)
_PLUGINS: Final = {
    "gitlab_token": "GitLab token",
    "openai": "OpenAI key",
    "azure_storage_key": "Azure key",
    "sendgrid": "SendGrid key",
    "square_oauth": "Square secret",
    "mailchimp": "Mailchimp key",
    "telegram_token": "Telegram token",
    "twilio": "Twilio key",
    "discord": "Discord token",
}
"""Of `detect-secrets`: what has a form of its own. Its detectors of entropy take every hash for a secret."""

_BY_WORD: Final = (
    ("eyj", "JSON web token", r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}"),
    *((word, "AWS key", rf"\b{word.upper()}[A-Z0-9]{{16}}\b") for word in ("akia", "asia", "abia", "acca")),
    ("q~", "Azure key", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    ("a3t", "AWS key", r"\bA3T[A-Z0-9]{17}\b"),
    ("hooks.slack", "webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}"),
    ("webhook.office.com", "webhook", r"webhook\.office\.com/webhookb2/([\w@/-]{40,})"),
    ("mailgun", "API key", r"(?<![\w-])key-[0-9a-f]{32}\b"),
    *(
        (word, "API key", rf"\b{word}(?=(?:[A-Za-z]*\d){{2}})[A-Za-z0-9]{{32,}}\b")
        for word in ("secret_", "rpa_", "sgp_", "vcp_", "fo1_", "phx_", "csk-", "cfut_", "cfat_")
    ),
    ("api/webhooks", "webhook", r"/api/webhooks/\d+/[\w-]{30,}"),
    ("flyv1 ", "API key", r"\bFlyV1 [^\s\"'\\]{40,}"),
    (
        "private key",
        "private key",
        r"-{4,5} ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
        r"(?:(?:[^-]|-(?!-{3})){0,20000}-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}|"
        r"(?:(?:\\r)?(?:\s|\\n)[A-Z][\w-]{2,20}: [^\r\n\\]{1,80}+)*+"
        r"(?:(?:[\s>\"'+]|\\[nr])*(?=[a-z_]*[A-Z\d+/=])[\w+/=]{12,})+)",
    ),
    (
        "putty-user-key",
        "private key",
        r"PuTTY-User-Key-File-\d: (?:[^P]|P(?!uTTY-User|rivate-MAC)){0,20000}(?:Private-MAC: \w+)?",
    ),
    ("://", _ADDRESS, r"[A-Za-z]://(?:[^\s:/@\"'<>`]{1,200}:(?!\d{1,5}/)|:)([^\s@\"'<>`\\]{1,200})@(?=[\w\[])"),
    ("://", "token in an address", r"[A-Za-z]://(?=[\w-]*\d)([\w-]{20,})@(?=[\w\[])"),
    ("sig", "signed address", r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=([\w%+/=-]{16,})"),
    (
        "authorization",
        "authorization",
        r"(?i)authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?"
        r"(?:bearer|basic|token|apikey|digest|negotiate)\s+([\w.~+/=-]{8,})",
    ),
    ("bearer", "authorization", r"(?i)\bbearer\s+(?=[\w.~+/=-]{0,40}\d)([\w.~+/=-]{12,})"),
    ("machine", "password", r"(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'\\]+)"),
    ("cookie", "cookie", r"(?i)\bcookie\\?[\"']?\s*:\s*\\?[\"']?([\w.!#$%&*+^|~-]+=[^\r\n\"'\[\\]{6,})"),
    *(
        (word, "password", rf"(?i)\b{command}\s?[\"']?([^\s\"'`$\\-][^\s\"'`\\]{{3,}})")
        for word, command in (
            ("sshpass", r"sshpass\s+-p"),
            ("redis-cli", r"redis-cli\b[^\n|;&]{0,200}?\s-a"),
            ("ldap", r"ldap\w+\b[^\n|;&]{0,300}?\s(?-i:-w)\s"),
            ("az login", r"az\s+login\b[^\n|;&]{0,300}?\s(?-i:-p)\s"),
            ("zip", r"(?:un)?zip\b[^\n|;&]{0,200}?\s(?-i:-P)\s"),
            ("smbclient", r"smbclient\b[^\n|;&]{0,200}?\s-U\s?[\w\\.-]+%"),
            ("docker", r"docker\s+login(?:\s+(?:(?:-u|--username)[ =]?\S+|[\w-]+[.:][\w./:-]+)){0,3}\s+-p(?=\s)"),
        )
    ),
    *(
        (
            word,
            "password",
            rf"\b{word}\w*\s[^\n|;&,]{{0,300}}?\s-p(?!\d+(?:[:/]\w+)*(?!\S)|ort)(?=\S*\d)([^\s\"'`$\\]{{4,}})",
        )
        for word in ("mysql", "mariadb")
    ),
    *(
        (
            "pass",
            "password",
            r"(?:(?<!BY)(?<!COM)PASS|PASSWORD|PASSWD|PASSPHRASE)="
            rf"\\?{quote}((?=[^{quote}\n]* )[^{quote}\\\n]{{4,200}})\\?{quote}",
        )
        for quote in ("'", '"')
    ),
    *(
        (
            word,
            "password",
            rf"(?i)\b(?:(?:create|alter)\s+(?:user|role|login|group|database|server|subscription)|set(?=\s+password))\s"
            rf"[^;\n]{{0,200}}?\b{phrase}(?:\s+for\s+\S{{1,200}})?\s{{0,9}}=?\s{{0,9}}'([^'\n]{{4,200}})'",
        )
        for word, phrase in (("password", "password"), ("identified", r"identified\s+(?:with\s+\S+\s+)?by"))
    ),
    (
        "(",
        "secret",
        r"(?i)\b(?:define|\w{0,20}set\w{0,20})\(\s*['\"]([\w.-]{0,40}(?:pass|pwd|secret|token|api_?key)[\w.-]{0,40})['\"],"
        r"\s*['\"](?=[^'\"]*\d)([^\s'\"$]{6,})['\"]",
    ),
    ("echo", "password", r"(?i)\becho\s+(?:-n\s+)?[\"']?([^\s\"'|$]{4,})[\"']?\s*\|[^\n]{0,100}--password-stdin"),
    (":5432:", "password", r"(?m)^[\w.*-]+:5432:[\w*-]+:[\w*-]+:([^\s:]{4,})$"),
    *(
        (
            word,
            "secret",
            rf"\b{word}\s+(\w{{0,40}}(?i:pass|pwd|secret|token|key)\w{{0,40}})\s{{1,9}}"
            r"[\"']?(?=\S*\d)([^\s\"'$=]{6,})",
        )
        for word in ("setx", "setenv")
    ),
    (
        "env ",
        "secret",
        r"(?m)^[ \t]{0,40}ENV\s(\w{0,40}(?:PASS|PWD|SECRET|TOKEN|KEY)\w{0,40})\s{1,9}"
        r"[\"']?(?=\S*\d)([^\s\"'$=]{6,})",
    ),
    (
        "</",
        "secret",
        r"(?i)<\w*(?:password|passwd|(?:secret|token|apikey)(?=>[^<>]*[a-z]))>(?=[^<>]*\d)([^<>\s]{6,400})</",
    ),
    ("curl", "password", r"(?i)\bcurl\b[^\n|]{0,500}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,80}:([^\s\"'{\\]{3,})"),
    (
        "--",
        "password",
        r"(?i)(?<!\S)--(?:password|passwd|pass|token|secret|api-?key)[ =][\"']?(?=\S*\d)([^\s\"'`\\]{5,})",
    ),
)
"""A word that the text has, in small letters; kind; pattern: what is masked is its last group, if it has a group; of
two groups the first is its name.
"""
_PASSWORDS: Final = (
    "pass",
    "pwd",
    "contrase",
    "kennwort",
    "senha",
    "wachtwoord",
    "lösenord",
    "hasło",
    "пароль",
    "密码",
    "parola",
    "salasana",
    "heslo",
    "jelszó",
    "şifre",
    "clave",
    "パスワード",
    "비밀번호",
    "كلمة المرور",
)
"""What a password is called, in several languages: a value of such a name needs no length."""
_ORDINARY: Final = ("clave", "heslo", "parola")
"""Which of them are words of every day too ("la clave: Paciencia"): their value needs a digit."""
_ROOTS: Final = (*_PASSWORDS, "secret", "token", "auth", "credential", "salt", "dsn", "key")
_ROOT: Final = re.compile(
    rf"(?<!palabra )(?<!palabras )(?:{'|'.join(_PASSWORDS)})|secret|token|auth|credential|salt|dsn|"
    "(?:api|access|private|account|encryption|signing|master|service|shared|admin)[_.-]?key|app(?:lication)?[_.-]?key(?![a-z])"
)
_ASSIGNED: Final = re.compile(
    r"[\w-]{0,40}\\?[\"'`]?\]?(?P<sign>\s{0,3}(?:=>|:=|==|=|:|：)\s{0,3}"
    r"|(?=\s{0,9}[,\"'\n\\]|\s+value=)(?:[\s,\"'\\]|\\n){1,12}value\\?[\"']?\s{0,3}[=:]\s{0,3})\\?[\"'`]?"
    r"(?P<secret>[^\s\"'`,;<>{}()\[\]\\]{4,400})"
)
"""Behind a part of a name that sounds like a secret: the rest of it and its value, in whatever notation, also apart
(`name: DB_PASSWORD, value: …`)."""
_PREFIX: Final = re.compile(r"[\w.-]*\Z")
_PLACEHOLDER: Final = re.compile(
    r"(?i)^(?:\$|%\w+%|process\.env|os\.environ|env\.|getenv|self\.|this\.|config\.|settings\.|args\.|none\b|null\b|"
    r"nil\b|undefined|true\b|false\b|string\b|str\b|optional|required|bytes\b|int\b|user|https?://|file://|/|~/|\./|"
    r"@|->|\||&quot|&lt)|\$[({]|\*{3}|\.{3}|…|x{3}|<|your|change.?me|example|placeholder|redact|dummy|"
    r"(?:^|[-_.])(?:key|token|secret|pass|password|passwd|pwd|here|invalid|test|env|sample)(?:[-_.]|$)|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
)
"""A value that stands for a secret and is none: a variable, a type, a placeholder, a path."""
_HARMLESS: Final = re.compile(
    r"(?i)(?:tokens|authors?|authority|passed|passes|passing|pass_?rate|passage\w*|passenger\w*|tokeni[sz]\w*|"
    r"(?:com|by|over|tres|sur)pass|passat|(?:auto|en|con)clave|secretar\w*|authenticat\w*|authentic|authored|passive\w*|passion\w*|passport|[dr]esenha\w*|"
    r"(?:mon|tur|hoc)key\w*|key(?:board|word|map)\w*)$|"
    r"token_?(?:count|type|limit|budget|id|url|name|length|endpoint)|(?:secret|key)_?(?:name|type|ref|url|length)$|"
    r"key_?id$|(?:max|min|num|total|next|page|input|output)_?tokens?"
)
_STRONG: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])|(?=.*[A-Za-z])(?=.*\d)|(?=.*[A-Za-z\d])(?=.*[!#$%&*+^~?@=/])")


def find_secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of each secret in a text, in no order; they may overlap."""
    small = text.lower()
    for prefix, kind, pattern in _BY_PREFIX if _RUN.search(text) else ():
        if prefix in text:
            yield from ((*match.span(), kind) for match in re.finditer(pattern, text) if _is_random(match[1]))
    if _LONG_RUN.search(text) and (any(word in text for word in _LIBRARY_WORDS) or re.search(_OF_LIBRARY, text)):
        for kind, rule in _library_rules():
            yield from ((*match.span(), kind) for match in rule.finditer(text))
    for word, kind, pattern in _BY_WORD:
        if word in small:
            for match in re.finditer(pattern, text):
                last = match.re.groups
                if last > 1 and _HARMLESS.search(match[1]):
                    continue
                if not last or not _PLACEHOLDER.search(match[last]):
                    yield (*match.span(last), kind)
    if not any(word in small for word in _ROOTS):
        return
    for root in _ROOT.finditer(small if len(small) == len(text) else text):
        assigned = _ASSIGNED.match(text, root.end())
        if assigned and (kind := _classify_assigned(text, root.start(), assigned)):
            yield (*assigned.span("secret"), kind)


def _is_random(body: str) -> bool:
    """Return whether the text after a prefix looks random, unlike a program's name such as `npm_config_cache`."""
    digits = sum(character.isdigit() for character in body)
    return digits > 1 and (body.upper() != body != body.lower() or ("_" not in body and len(body) >= 24))


def _classify_assigned(text: str, start: int, match: re.Match[str]) -> str:
    """Return what kind of secret is the value of a name that sounds like a secret from `start` on; "" for none."""
    value, sign = match["secret"], match["sign"]
    before = _PREFIX.search(text[max(0, start - 60) : start])
    name = (before[0] if before else "") + text[start : match.start("sign")].rstrip("\\\"'`]")
    small = name.lower()
    if _HARMLESS.search(name) or _PLACEHOLDER.search(value) or value.lower() in small:
        return ""
    password, digits = any(word in small for word in _PASSWORDS), any(character.isdigit() for character in value)
    if password:
        likely = (name.isupper() and sign == "=") or (digits and len(value) > 4)
        likely = likely or (bool(_STRONG.search(value)) and (digits or small not in _ORDINARY))
    else:
        likely = len(value) >= 10 and digits and bool(_STRONG.search(value))
    if not likely:
        return ""
    if password:
        return "password"
    return next((kind for kind in ("token", "key") if kind in small), "secret")


@cache
def _library_rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return (kind, pattern) of the rules of `detect-secrets` that are used here."""
    from importlib import import_module
    from inspect import getmembers, isclass

    rules = []
    for name, kind in _PLUGINS.items():
        module = import_module(f"detect_secrets.plugins.{name}")
        for _, plugin in getmembers(module, isclass):
            if plugin.__module__ == module.__name__:
                rules += [(kind, rule) for rule in getattr(plugin, "denylist", ())]
    return tuple(rules)
