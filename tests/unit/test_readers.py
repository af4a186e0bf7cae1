"""What a reader makes of a file: title, headings, pieces; nothing but markup is lost."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.ingest import reading
from amgs.ingest.document import cut, cut_document
from amgs.ingest.raw_blocks import FolderContents
from amgs.ingest.readers import documents, notes, registry
from amgs.ingest.readers.registry import READERS
from amgs.settings import IngestSettings

SETTINGS = IngestSettings()


def taken(folder: Path, name: str, content: str | bytes) -> FolderContents:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return reading.read_file(path, name, SETTINGS)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


# --- pieces -----------------------------------------------------------------------------------------------


@given(st.text(max_size=3000), st.integers(min_value=20, max_value=400))
def test_cutting_loses_no_character_but_white_space_and_keeps_the_limit(text: str, limit: int) -> None:
    parts = cut(text, limit)
    assert re.sub(r"\s+", "", "".join(parts)) == re.sub(r"\s+", "", text)
    assert all(len(part) <= limit for part in parts)


LINES = st.lists(
    st.sampled_from(
        (
            "# One", "## Two", "text of some words", "- item", "  more of it", "| a | b |", "|---|---|", "", "", "```",
            "Under", "-----", "=====", ".. note::", "   indented words", "* Star", "> quoted", "[x]: y.md", "::",
            "<b>bold</b>", "def f():", "    return 1", "class A:", "+---+---+", "==== ====", "[^1]: foot", "数据库。",
        )
    ),
    max_size=60,
)  # fmt: skip


@given(LINES, st.sampled_from(["markdown", "plain", "code"]))
def test_no_word_of_a_document_is_lost_and_none_is_invented(lines: list[str], form: str) -> None:
    text = "\n".join(lines)
    if not text.strip():
        return
    read = {"markdown": notes.read_markdown, "plain": notes.read_plain}
    document = registry.read_code(text.encode(), language="C") if form == "code" else read[form](text.encode())
    made = cut_document(document, 60)
    kept = [w for piece in made for w in words(piece.text)]
    if form != "markdown":
        assert kept == words(text)
    else:
        hidden = words("[x]: y.md")
        assert [w for w in kept if w not in hidden] == [w for w in words(text) if w not in hidden]
    assert all(len(piece.text) <= 60 for piece in made)
    assert all(document.text[piece.start : piece.end].split()[0] == piece.text.split()[0] for piece in made[:1])


# --- formats ----------------------------------------------------------------------------------------------


def pdf(text: bytes) -> bytes:
    """Make a PDF of one page."""
    stream = b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % text
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    objects = b"".join(b"%d 0 obj%s endobj\n" % (n, part) for n, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + objects + b"trailer<</Size 6/Root 1 0 R>>\n%%EOF"


def docx(text: str) -> bytes:
    """Make a document of Word with one paragraph."""
    office = "http://schemas.openxmlformats.org"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{office}/package/2006/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/d.xml" ContentType='
            '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r" Target="d.xml" '
            f'Type="{office}/officeDocument/2006/relationships/officeDocument"/></Relationships>',
        )
        archive.writestr(
            "d.xml",
            f'<w:document xmlns:w="{office}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p>'
            "</w:body></w:document>",
        )
    return out.getvalue()


def test_documents_become_markdown(tmp_path: Path) -> None:
    page = (
        "<title>Boat – Wiki</title><style>p{}</style><body><h1>Boat</h1>"
        "<p>It is due\non the <a href='rent.md'>first</a>.</p>"
        "<ul><li>oars</li></ul><table><tr><th>year</th></tr><tr><td>2026</td></tr></table><script>hidden = 1</script>"
    )
    (draft,) = taken(tmp_path, "boat.html", page).drafts
    assert draft.content == ("# Boat\n\nIt is due\non the [first](rent.md).\n\n* oars\n\n| year |\n| --- |\n| 2026 |")
    assert draft.meta["title"] == "Boat – Wiki" and draft.meta["refers_to"] == ["rent.md"]
    for name, raw in {"a.pdf": pdf(b"The rent is due."), "b.docx": docx("The rent is due.")}.items():
        assert [one.content for one in taken(tmp_path, name, raw).drafts] == ["The rent is due."]
    ruled = taken(tmp_path, "ruled.html", "<hr><p>ingest: false</p><hr><p>Oars.</p>")
    assert "Oars." in ruled.drafts[0].content, "a rule at the top is no front matter"
    (scan,) = taken(tmp_path, "scan.pdf", pdf(b"")).refused
    assert "it holds no text" in scan.reason
    western = taken(tmp_path, "café.html", "<p>Zoë's café in Zürich opens at seven.".encode("latin-1"))
    assert western.drafts[0].content == "Zoë's café in Zürich opens at seven."
    assert "windows-1252" in western.warnings[0].reason


def test_a_document_without_its_extra_says_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "is_installed", lambda package: False)
    (refused,) = taken(tmp_path, "a.pdf", pdf(b"x")).refused
    assert "needs the package markitdown" in refused.reason and "[documents]'" in refused.reason


def test_a_chat_keeps_speakers_and_times_and_names_what_is_no_message(tmp_path: Path) -> None:
    chat = (
        '{"speaker": "Ann", "text": "Hi", "date": "2026-03-01T10:00:00Z"}\n{"role": "user", "content": '
        '[{"type": "text", "text": "And?"}]}\nnonsense\n{"messages": [{"role": "assistant", "content": "Yes."}]}\n{}\n'
    )
    found = taken(tmp_path, "c.jsonl", chat)
    assert [d.content for d in found.drafts] == ["Ann: Hi", "user: And?", "assistant: Yes."]
    assert found.drafts[0].created_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert "follows" in found.drafts[1].meta and "follows" not in found.drafts[2].meta
    assert [w.reason for w in found.warnings] == [
        "line 3 was left out: it is no JSON",
        "line 5 was left out: it holds no text",
    ]
    (refused,) = taken(tmp_path, "d.jsonl", '{"a": 1}').refused
    assert "none of its lines is a message" in refused.reason


def test_python_is_cut_at_its_functions_and_classes(tmp_path: Path) -> None:
    body = "    x = 'a value that takes some room'\n" * 36
    method = "    # says why\n    @property\n    def b(self):\n" + body.replace("    x", "        x") + "\n"
    text = f'"""What it is for."""\n\nimport os\n\n\ndef a():\n{body}\n\nclass C:\n    """Doc."""\n\n{method}'
    text += method.replace("b(", "c(")
    drafts = taken(tmp_path, "tool.py", text).drafts
    assert "headings" not in drafts[0].meta
    assert [d.meta["headings"] for d in drafts[1:]][-2:] == [
        ["tool.py", "class C", "b()"],
        ["tool.py", "class C", "c()"],
    ]
    assert drafts[-1].content.startswith("    # says why\n    @property\n    def c(self)")
    (long,) = [
        d for d in taken(tmp_path, "long.py", f"def a():\n{body}\n    tail = 1\n{body}").drafts if "tail" in d.content
    ]
    assert "    tail = 1" in long.content
    broken = taken(tmp_path, "old.py", "print 'two'\n")
    assert broken.warnings[0].reason == "its Python cannot be parsed (line 1); it was cut at blank lines"
    assert broken.drafts[0].content == "print 'two'"


@pytest.mark.parametrize("ending", [*sorted(READERS)[::5], ".html", ".pdf", ".jsonl", ".md"])
def test_what_is_no_text_is_refused_with_a_reason_by_every_reader(tmp_path: Path, ending: str) -> None:
    for content in (b"", b" \n ", bytes(range(256)) * 4, b"\xff\xfe\x00"):
        found = taken(tmp_path, f"x{ending}", content)
        assert all(0 < len(r.reason) < 300 for r in found.refused)
        assert bool(found.refused) != bool(found.drafts)


def test_western_text_is_read_and_said_and_other_encodings_are_refused(tmp_path: Path) -> None:
    text = "The café in Zürich opens at seven, says Zoë; the naïve plan was to come at six."
    found = taken(tmp_path, "a.txt", text.encode("latin-1"))
    assert found.drafts[0].content == text and "windows-1252" in found.warnings[0].reason
    broken = taken(tmp_path, "b.txt", text.encode() + b" \xff end")
    assert broken.drafts[0].content == text + " \ufffd end" and "1 characters" in broken.warnings[0].reason
    assert "not UTF-8" in taken(tmp_path, "c.txt", "これは日本語の文章です。".encode("shift-jis")).refused[0].reason
    assert taken(tmp_path, "d.txt", text.encode("utf-16")).drafts[0].content == text


def test_a_file_of_questions_is_said_to_be_one_in_one_line(tmp_path: Path) -> None:
    asked = '{"question": "Who?", "answers": ["a.md"], "answer": "Ilse"}\n'
    (refused,) = taken(tmp_path, "questions.jsonl", asked * 9).refused
    assert "it holds questions" in refused.reason
    mixed = taken(tmp_path, "mixed.jsonl", asked + '{"role": "user", "content": "Hello."}')
    assert [draft.content for draft in mixed.drafts] == ["user: Hello."]
    assert "line 1 was left out: it is a question" in mixed.warnings[0].reason


def test_no_turn_of_a_conversation_lies_ahead_of_its_file_unless_a_date_says_so(tmp_path: Path) -> None:
    said = "".join(f'{{"speaker": "Ana", "text": "Turn {n}."}}\n' for n in range(90))
    drafts = taken(tmp_path, "talk.jsonl", said).drafts
    written = datetime.fromtimestamp((tmp_path / "talk.jsonl").stat().st_mtime, UTC)
    minute = timedelta(minutes=1)
    assert [draft.created_at for draft in drafts[-2:]] == [written - minute, written]
    day = datetime(2026, 3, 1, tzinfo=UTC)
    dated = reading.read_file(tmp_path / "talk.jsonl", "talk.jsonl", SETTINGS, dated=day).drafts
    assert [draft.created_at for draft in dated[:2]] == [day, day + minute]


def test_rtf_is_refused_instead_of_read_as_its_own_markup(tmp_path: Path) -> None:
    (refused,) = taken(tmp_path, "letter.rtf", r"{\rtf1\ansi Dear Sir.}").refused
    assert "save it as text" in refused.reason
