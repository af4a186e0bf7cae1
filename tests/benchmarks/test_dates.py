"""`conversation`, dates: exact days count, and the day of writing stands beside."""

from __future__ import annotations

import json
from pathlib import Path

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.dates import measure_dates


def test_dates_are_measured_beside_the_day_of_writing(tmp_path: Path) -> None:
    (tmp_path / "temporal" / "timebank").mkdir(parents=True)
    phrase = {"TypeName": "datetimeV2.daterange", "Text": "last week", "Start": 8, "End": 16}
    wrong = {"TypeName": "datetimeV2.date", "Text": "tomorrow", "Start": 18, "End": 25}
    phrase["Resolution"] = {"values": [{"start": "2026-02-23", "end": "2026-03-02"}]}
    wrong["Resolution"] = {"values": [{"value": "2026-03-06"}]}
    case = {
        "Input": "We left last week, tomorrow",
        "Context": {"ReferenceDateTime": "2026-03-04T09:00:00"},
        "Results": [phrase, wrong],
    }
    (tmp_path / "temporal" / "recognizers-en.json").write_text(json.dumps([case]))
    told = '<TIMEX3 type="DATE" temporalFunction="true" value="2026-03-02">Monday</TIMEX3>'
    stamp = '<DCT><TIMEX3 type="DATE" value="2026-03-04">4 March</TIMEX3></DCT>'
    news = f"<TimeML>{stamp}<TEXT>It <EVENT>fell</EVENT> on {told}.</TEXT></TimeML>"
    (tmp_path / "temporal" / "timebank" / "one.tml").write_text(news)
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = measure_dates(rig, tmp_path)
    assert found is not None
    assert found.metrics["range"] == found.metrics["timebank_relative_day"] == 100.0
    assert found.metrics["date"] == 0.0
    assert found.tables[0].rows[0][-1] == 0.0
