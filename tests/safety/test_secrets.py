"""Keys, tokens, passwords and private keys: found by their forms, and masked at every way in and out."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from timeit import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs import masking
from amgs.errors import InputError, StoreError, UsageError
from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.masking import find_marks, mask, mask_body, tell_masked
from amgs.memory import Memory
from amgs.secret_finder import find_secrets
from amgs.settings import IngestSettings, Settings
from amgs.types import BlockFilter
from amgs_tui.__main__ import run
from tests.engine.memory_world import NOW, open_memory

_DRAWN = random.Random(41)
_WORD = string.ascii_letters + string.digits
_HEX = string.hexdigits.lower()[:16]


def drawn(length: int, letters: str = _WORD) -> str:
    """Letters drawn at random, with capitals, small ones and digits where there are such."""
    head = "aB7" if letters == _WORD else ""
    return head + "".join(_DRAWN.choice(letters) for _ in range(length - len(head)))


def _part(value: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


_JWT = f"{_part({'alg': 'HS256'})}.{_part({'sub': '77'})}.{drawn(43)}"
_PEM = "\n".join(drawn(64) for _ in range(40))

SECRETS: tuple[tuple[str, str, str], ...] = (
    ("token in an address", key := drawn(40, "0123456789abcdef"), f"git clone https://{key}@github.com/pia/ferry.git"),
    ("password", key := drawn(9) + "7", f"mysql -u root -p{key} ferry"),
    ("password", key := drawn(9) + "7", f"sshpass -p '{key}' ssh pia@harbour"),
    ("password", key := drawn(9) + "7", f"docker login -u pia -p {key}"),
    ("password", key := drawn(9) + "7aB", f"contraseña: {key}"),
    ("password", key := drawn(9) + "7aB", f"密码：{key}"),
    ("password", key := f"{drawn(6)} and {drawn(6)}", f"DB_PASSWORD='{key}'"),
    ("secret", key := drawn(9) + "7", f"<password>{key}</password>"),
    *(
        (kind, (key := drawn(9) + "7"), text % key)
        for kind, text in (
            ("password", "CREATE USER tide WITH PASSWORD '%s';"),
            ("password", "create user tide identified by '%s'"),
            ("password", "SET PASSWORD FOR tide = '%s'"),
            ("password", "- name: DB_PASSWORD\n  value: %s"),
            ("password", '[{"name": "DB_PASSWORD", "value": "%s"}]'),
            ("password", '<add key="Password" value="%s"/>'),
            ("secret", "define('DB_PASSWORD', '%s');"),
            ("secret", "monkeypatch.setenv('API_TOKEN', '%s')"),
            ("secret", "ENV DB_PASSWORD %s"),
            ("secret", "setx DB_PASSWORD %s"),
            ("password", "redis-cli -h tide -a %s ping"),
            ("password", "ldapsearch -D cn=admin -w %s"),
            ("password", "az login --service-principal -u pier -p %s"),
            ("password", "zip -P %s pier.zip pier"),
            ("password", "smbclient //harbour/pier -U pia%%%s"),
            ("password", "echo %s | docker login -u pia --password-stdin"),
            ("password", "harbour:5432:tide:pia:%s"),
            ("password", "パスワード: %s"),
            ("password", "şifre: %s"),
            ("Azure key", f"client aB38Q~{drawn(26)}%s"),
            ("API key", f"the id LTAI{drawn(12)}%s"),
            ("API key", f"FIREWORKS_API_KEY=fw_{drawn(14)}%s"),
        )
    ),
    ("AWS key", key := "AKIA" + drawn(16, string.ascii_uppercase), f"id {key} of the harbour account"),
    ("key", key := drawn(40, _WORD + "/+"), f"AWS_SECRET_ACCESS_KEY={key}"),
    ("token", key := drawn(120, _WORD + "/+"), json.dumps({"SessionToken": key})),
    ("GitHub token", key := "ghp_" + drawn(36), f"git clone https://x:{key}@github.com/pia/ferry"),
    ("GitHub token", key := "github_pat_" + drawn(22) + "_" + drawn(59), f"export GH_TOKEN='{key}'"),
    ("GitLab token", key := "glpat-" + drawn(20), f"PRIVATE-TOKEN: {key}"),
    ("Slack token", key := "xoxb-281474976710-" + drawn(24), f'"bot": "{key}"'),
    ("webhook", key := "T0291/B0412/" + drawn(24), f"curl https://hooks.slack.com/services/{key}"),
    ("OpenAI key", key := "sk-proj-" + drawn(90), f"OPENAI_API_KEY={key}"),
    ("OpenAI key", key := "sk-" + drawn(48), f"the key {key} is used up"),
    ("Anthropic key", key := "sk-ant-api03-" + drawn(93), f"x-api-key: {key}"),
    ("Stripe key", key := "sk_live_" + drawn(24), f"stripe.api_key = '{key}'"),
    ("npm token", key := "npm_" + drawn(36), f"//registry.npmjs.org/:_authToken={key}"),
    ("PyPI token", key := "pypi-AgEIcHlwaS5vcmc" + drawn(120), f"password = {key}"),
    ("Google key", key := "AIza" + drawn(35), f"https://maps.example.org/?key={key}"),
    ("API key", key := "hf_" + drawn(34), f"login {key}"),
    ("API key", key := "tskey-auth-k" + drawn(10) + "-" + drawn(32), f"tailscale up --auth-key {key}"),
    ("API key", key := "xkeysib-" + drawn(64, _HEX) + "-" + drawn(16), f"mail goes by {key}"),
    ("API key", key := "secret_" + drawn(43), f"Notion: {key}"),
    ("API key", key := "rpa_" + drawn(40), f"pods start with {key}"),
    ("API key", key := "key-" + drawn(32, _HEX), f"curl mailgun {key}"),
    ("key", key := drawn(40, _HEX), f"DD_APP_KEY={key}"),
    ("key", key := drawn(40, _HEX), f"DD-APPLICATION-KEY: {key}"),
    ("webhook", key := drawn(32, _HEX), f"https://pia.webhook.office.com/webhookb2/{key}@{key}/IncomingWebhook/{key}"),
    ("SendGrid key", key := f"SG.{drawn(22)}.{drawn(43)}", f"mail goes by {key}"),
    ("Telegram token", key := "8123456789:AA" + drawn(33), f"bot {key}"),
    ("JSON web token", _JWT, f"jwt {_JWT} ends in May"),
    ("password in an address", "Wave-9931-kelp", "TIDE_DB=postgres://tide:Wave-9931-kelp@db.example.org/t"),
    ("password in an address", "ab/cd12", "amqp://guest:ab/cd12@mq.example.org:5672"),
    ("password in an address", "s3cretpw", "redis://:s3cretpw@localhost:6379/0"),
    ("password in an address", "6379/0", "redis://:6379/0@localhost"),
    ("password", "sunshine", "PATH=/bin\nPASSWORD=sunshine\nHOME=/root"),
    ("password", "Tr0ub4dor&3", "database:\n  password: Tr0ub4dor&3\n"),
    ("password", "hunter22", json.dumps({"said": json.dumps({"password": "hunter22"})})),
    ("password", "Kelp2Wave", "spring.datasource.password=Kelp2Wave"),
    ("password", "harbour77", "curl -s -u pia:harbour77 https://example.org"),
    ("password", "wavesA1x", "mysql --password=wavesA1x -h db"),
    ("password", "Kelp2Wave9", "machine h.example.org login pia password Kelp2Wave9"),
    ("key", key := drawn(32, _HEX), f'api_key = "{key}"'),
    ("secret", key := drawn(30), f"client_secret: {key}"),
    ("authorization", key := drawn(40), f"> Authorization: Bearer {key}"),
    ("authorization", "dXNlcjpwYXNzd29yZA", '{"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}'),
    ("secret", key := drawn(30), f"VAULT_SECRET_ID={key}"),
    ("token", key := drawn(30), f"secret_refresh_token={key}"),
    ("password", "Hunter22x", "key_id_password=Hunter22x"),
    ("password", "correct horse battery staple", 'DB_PASSPHRASE="correct horse battery staple"'),
    ("cookie", key := drawn(32), f"Set-Cookie: sid={key}; Path=/; HttpOnly"),
    ("cookie", key := drawn(32), f"Cookie: theme=dark; session={key}"),
    ("signed address", key := drawn(43), f"https://a.blob.example.net/c?sv=2022&sig={key}%3D"),
    *(
        ("private key", _PEM[70:128], f"-----BEGIN {kind}-----\n{_PEM}\n-----END {kind}-----\n")
        for kind in (
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        )
    ),
    ("private key", _PEM[70:128], f"-----BEGIN RSA PRIVATE KEY-----\n{_PEM}"),
    ("private key", _PEM[70:128], f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{_PEM}"),
    ("private key", _PEM[70:128], f"> -----BEGIN PRIVATE KEY-----\n> {_PEM}".replace("\n", "\n> ")),
    ("private key", _PEM[70:128], json.dumps(f"-----BEGIN PRIVATE KEY-----\n{_PEM}\n-----END PRIVATE KEY-----")),
    ("private key", _PEM[70:128], f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 40\n{_PEM}\nPrivate-MAC: 0a1b"),
)
"""Kind, secret (or a part of it), and a text that holds it."""

HARMLESS = (
    "http://localhost:3000/@vite/client and https://example.org:8080/pier@2x.png",
    "secretName: tide-tls-2024",
    "docker login ghcr.io && docker run -p 8080:80 nginx",
    "docker run --name mysql -p3306:3306 mysql:8",
    'BYPASS_REASON=\'the old server is down\', TESTS_PASSED="12 of 14", PASSENGER_NAME="Anna Schmidt"',
    "<max_token>4096000</max_token><token>2024-05-01</token>",
    "Desenha: quadrado2024",
    "mysql -u root -p ferry",
    "compass: NNE2024x, bypass: Valve77x, Passat: Diesel2024, autoclave: Model23B, the salt value: 12.5g/100ml-NaCl",
    "La clave: Paciencia. Palabras clave: COVID-19, vacunas. Ultima parola: NonSoMai. Zip codes are -Portland1.",
    "set('passenger', 'Anna2Berg'), reset('compass', 'NNE2024'), setx MONKEY banana22",
    "ENV KEYBOARD_LAYOUT us-intl-2",
    "A poster was to create the word password 'Sesam'; the set was identified by 'Anna2 Berg'.",
    "The bird was identified by Anna2; the user with password, the role without. Set the table for 12.",
    '{"name": "harbour", "value": "pier2024final"}, name: api_key_id, value: required',
    "environment secret: none, ENV NODE_ENV production, setPassword(password, hash2)",
    "The password is required, and the token is optional.",
    "The cabin's wifi password is cloudberry77.",  # told in a sentence, to be remembered
    "max_tokens: 4096, total_tokens=120000, token_count: 12345678",
    'password = os.environ["DB_PASSWORD"]',
    "POSTGRES_PASSWORD=postgres",
    "export OPENAI_API_KEY=your-api-key-here",
    "api_key: ${{ secrets.API_KEY }}",
    "postgres://user:password@localhost/app and https://$USER:$PASS@host",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b by the author: pia",
    "id 123e4567-e89b-12d3-a456-426614174000, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "npm_config_registry and npm_package_version_12_3_4_of_the_ferry_app",
    "The key to the harbour: turn left, then pass the passage. Authentication: done in 3 steps.",
    "from amgs.masking import tokenize_everything_in_here_2026_09",
    "the secret of the tide: it comes twice a day",
    "passed: 1204 tests, passing rate=0.98",
    "Bearer of bad news; cookie: yes please",
    "sk-circle-fading-spinner-animation",
    "secret_santa_list_2026_final_version_for_the_whole_office, rpa_Workflow12_Step3_of_the_harbour_office",
    "The first line of such a file is -----BEGIN OPENSSH PRIVATE KEY----- and no more.",
    "cache key-0f3a9c1b2d4e5f60718293a4b5c6d7e8, app_key = harbour, app_key_name: tide-2024-main",
    "app.keymap = vscode-default-v2-extended, appKeyBinding: CtrlShiftP2024x, csk-harbour-office-main-2024-final",
    "-----BEGIN PRIVATE KEY-----\ndocumentation follows",
)


@pytest.mark.parametrize(("kind", "secret", "text"), SECRETS, ids=[f"{n}-{s[0]}" for n, s in enumerate(SECRETS)])
def test_a_secret_is_masked_with_its_kind_and_is_known_again(kind: str, secret: str, text: str) -> None:
    masked = mask(text)
    assert secret not in masked and find_marks([masked]) == (kind,)
    assert mask(masked) == masked, "what is masked once is masked"
    assert find_marks([masked, mask(f"Again:\n{text}")]) == (kind,), "the same secret has the same mark"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("begin", "piece"),
    [("set('", "pass"), ("setx ", "key"), ("ENV ", "KEY"), ("env ", "\n "), ("set password", " "), ("pass", ", ")],
)
def test_a_hostile_text_is_searched_in_time_in_proportion_to_its_length(begin: str, piece: str) -> None:
    def seconds(length: int) -> float:
        text = begin + piece * (length // len(piece))
        return min(repeat(lambda: list(find_secrets(text)), timer=process_time, repeat=3, number=1))

    assert seconds(20_000) < 30 * max(seconds(2_000), 0.002)


@given(st.text(max_size=80), st.text(max_size=80))
def test_only_the_secret_is_taken_out(before: str, after: str) -> None:
    masked = mask(f"{before}\n{_JWT}\n{after}")
    assert _JWT not in masked and masked == mask(masked)
    assert mask("plain") == "plain" and tell_masked(["key", "key", "token"]) == "3 secrets masked: 2 × key, token"


def test_of_a_text_without_a_secret_only_a_digest_is_remembered_and_never_of_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, secret = set[bytes](), "password: hunter2-Tr0ub4dor"
    monkeypatch.setattr(masking, "_CLEAN", known)
    monkeypatch.setattr(masking, "_MOST_CLEAN", 3)
    for number in range(10):
        text = f"The valve number {number} leaks."
        assert masking.mask(text) is masking.mask(text) is text
        assert "hunter2" not in masking.mask(f"{text} {secret}") and masking.mask(secret) != secret
        assert 0 < len(known) <= 3 and all(len(key) == 32 for key in known)


def test_members_are_judged_by_their_names_and_what_holds_none_is_given_back_itself() -> None:
    rows = [{"password": "hunter22", "room": "dome"}, {"name": "DB_PASSWORD", "value": "hunter22"}]
    assert "hunter22" not in str(mask(rows)) and mask(rows)[0]["room"] == "dome"
    harmless = [{"room": ("dome", 3)}]
    assert mask(harmless) is harmless


def test_the_key_of_the_marks_lies_in_a_file_that_only_its_owner_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amgs import masking

    def marks(folder: Path) -> str:
        monkeypatch.setenv("AMGS_DATA", str(folder))
        masking._key.cache_clear()
        return mask("PASSWORD=sunshine")

    try:
        first = marks(tmp_path / "a")
        assert (tmp_path / "a" / "masking.key").stat().st_mode & 0o777 == 0o600
        assert marks(tmp_path / "b") != first and marks(tmp_path / "a") == first
        (tmp_path / "file").touch()
        assert "sunshine" not in marks(tmp_path / "file")
    finally:
        monkeypatch.undo()
        masking._key.cache_clear()


# --- ways in and out ----------------------------------------------------------------------------------------

KEY = "ghp_" + drawn(36)
LEAK = (
    f"GITHUB_TOKEN={KEY}\nPASSWORD=sunshine7\n-----BEGIN RSA PRIVATE KEY-----\n{_PEM}\n-----END RSA PRIVATE KEY-----\n"
)
GONE = (KEY, "sunshine7", *_PEM.split("\n"))
KINDS = {"GitHub token", "password", "private key"}


def assert_nowhere(folder: Path, secrets: Sequence[str] = GONE) -> None:
    """No file below a folder holds a secret."""
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in data], path


def session_file(path: Path) -> Path:
    """A session in which a tool printed all of them."""
    common = {"sessionId": "5c0ffee0-0000-4222-8333-444455556666", "version": "2.1.240", "cwd": "/home/pia/ferry"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat .env"}}
    said = {"type": "tool_result", "tool_use_id": "t1", "content": LEAK}
    records = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Why does the ferry stop?"}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [call], "usage": {}}},
        {"type": "user", "uuid": "3", "message": {"role": "user", "content": [said]}},
    ]
    lines = [
        json.dumps({**common, **record, "parentUuid": str(n) if n else None, "timestamp": f"2026-09-10T10:0{n}:00Z"})
        for n, record in enumerate(records)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_no_way_in_lets_a_secret_into_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "long.md").write_text(f"# Deploy\n\nBefore.\n\n{LEAK}\nAfter, the ferry leaves.\n")
    (folder / "old.txt").write_bytes(f"Caf\xe9 {KEY}".encode("latin-1"))
    session = session_file(tmp_path / "session.jsonl")
    store = tmp_path / "store"
    store.mkdir()
    memory = open_memory(store / "a.duckdb")
    try:
        assert set(memory.ingest_text(LEAK, meta={"room": f"of {KEY}"}).masked) == KINDS
        assert set(memory.ingest_folder(folder).masked) == KINDS
        assert memory.ingest_many([RawBlock(f"a key {KEY}", NOW)]).masked == ("GitHub token",)
        memory.ingest_texts([(f"one more {KEY}", None, {})])
        added = memory.conversation.add("talk", [{"role": "user", "content": LEAK}])
        assert any("3 secrets masked" in note for note in added.notes)
        assert set(memory.exchange.load_foreign(session).masked) == KINDS
        memory.search(f"where is {KEY}")
        memory.assemble("SESSION", query=f"where is {KEY}")
        memory.consolidate()
    finally:
        memory.close()
    assert_nowhere(store)


def test_a_setting_keeps_them(tmp_path: Path) -> None:
    memory = open_memory(settings=Settings(ingest=IngestSettings(secrets="keep")))
    report = memory.ingest_text(f"a key {KEY}")
    assert report.masked == () and memory.block(report.added[0]).content.endswith(KEY)
    memory.close()


def test_bodies_hold_none_in_json_however_deep_and_in_other_forms() -> None:
    body = json.dumps({"resourceSpans": [{"value": {"stringValue": LEAK}}]}).encode()
    deep = b"[" * 400 + json.dumps(LEAK).encode() + b"]" * 400
    for given_body in (body, deep):
        assert KEY.encode() not in mask_body(given_body)
    assert mask_body(b"[" * 400 + b"]" * 400) == b"[" * 400 + b"]" * 400
    binary = b"\x0a\x2c" + f"token {KEY}".encode() + b"\x00\xff"
    masked = mask_body(binary)
    assert len(masked) == len(binary) and KEY.encode() not in masked
    assert json.loads(mask_body(body))["resourceSpans"] and mask_body(b'{"a": 1}') == b'{"a": 1}'


@pytest.mark.parametrize(
    "words",
    [
        ["session", "FILE", "--view", "text", "--at", "3"],
        ["session", "FILE", "--view", "turns", "--format", "json"],
        ["session", "FILE", "--view", "window"],
        ["session", "FILE", "--html", "OUT"],
    ],
)
def test_no_view_of_a_session_shows_one(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session, out = session_file(tmp_path / "session.jsonl"), tmp_path / "out.html"
    given_words = [str(session) if word == "FILE" else str(out) if word == "OUT" else word for word in words]
    assert run(["--model", "tiny", *given_words]) == 0
    shown = capsys.readouterr().out + (out.read_text() if out.exists() else "")
    assert shown and not [secret for secret in GONE if secret in shown]


# --- a store that holds some already ------------------------------------------------------------------------

KEEP = Settings(ingest=IngestSettings(secrets="keep"))


def contents(memory: Memory) -> dict[str, str]:
    return {block.id: block.content for block in memory.blocks(BlockFilter())}


def test_a_scan_masks_what_a_store_holds_and_only_its_owner_s_file_puts_it_back(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "a.duckdb", settings=KEEP)
    memory.ingest_text(f"The ferry is pushed with {KEY}.")
    memory.ingest_text(mask(f"The ferry is pushed with {KEY}."))  # the same, masked: it came again later
    memory.ingest_text("The ferry leaves at seven.")
    memory.conversation.add("talk", [{"role": "user", "content": f"Is {KEY} the key of the ferry?"}])
    memory.consolidate()
    memory.search(f"who has {KEY}")
    before = contents(memory)
    assert memory.erasure.scan_secrets().found == ("GitHub token",)
    memory.search("deploy key", keep=True)  # its record is not written yet
    done = memory.erasure.mask_secrets()
    assert done.operation is not None and "1 secret masked: GitHub token" in done.operation.summary
    masked = contents(memory)
    assert len(masked) == len(before) and all(block_id(text) == id for id, text in masked.items())
    assert not memory.verify().faults and not memory.erasure.scan_secrets().found
    assert "[masked: GitHub token" in memory.conversation.show("talk")[0].text
    assert memory.search("ferry pushed").hits[0].block.id in masked
    with pytest.raises(UsageError, match="secrets"):
        memory.undo(done.operation.id)
    memory.close()

    originals = Path(done.originals)
    assert originals.stat().st_mode & 0o777 == 0o600 and originals.parent == tmp_path
    kept = originals.read_bytes()
    originals.unlink()
    assert_nowhere(tmp_path, [KEY])
    memory = open_memory(tmp_path / "a.duckdb", settings=KEEP)
    with pytest.raises(InputError):
        memory.erasure.restore_secrets(done.operation.id)
    originals.write_bytes(kept)
    memory.erasure.restore_secrets(done.operation.id)
    assert contents(memory) == before
    assert not originals.exists() and not memory.verify().faults
    memory.close()


def test_where_the_originals_cannot_be_kept_nothing_is_masked(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "a.duckdb", settings=KEEP)
    memory.ingest_text(f"The ferry is pushed with {KEY}.")
    (tmp_path / "a.duckdb.secrets-2.json").mkdir()
    with pytest.raises(StoreError):
        memory.erasure.mask_secrets()
    assert memory.erasure.scan_secrets().blocks == 1
    memory.close()
