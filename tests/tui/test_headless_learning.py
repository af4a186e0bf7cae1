"""What was assembled and what was learned from it, verb by verb on the command line."""

from __future__ import annotations

import json
from typing import Any

from tests.tui.headless_world import Amgs


def asked(amgs: Amgs, *words: str) -> Any:
    """The verb's result as JSON; its table and its CSV are written too."""
    assert amgs("--format", "json", *words) == 0, amgs.err
    return json.loads(amgs.out)


def test_every_field_of_a_definition_has_its_option_and_none_takes_a_limit_away(amgs: Amgs) -> None:
    given = "purpose=p weights=.2,.2,.2,.2,.2 category=task without=note status=raw meta=kind=note self_only=true"
    given += " since=2026-01-01 until=2026-02-01 used_since=2026-01-02 window=9 gather=filter pool=7"
    given += " hops=2 select=top_k limit=3 threshold=.1 similarity_share=.2 assembly=raw budget=99"
    given += " refresh_hours=2 merge=union budget_strategy=dynamic dedup=.9 rescore=1,0,0,0,0"
    assert amgs("frame", "define", "WHOLE", *given.split()) == 0
    made = asked(amgs, "frame", "list", "WHOLE")
    plain = asked(amgs, "frame", "list", "ATTENTION")
    same = {key for key in made if made[key] == plain[key]}
    assert same == {"children"}, "every field is another than that of the frame it started from"
    rule = made["rule"]
    assert {key for key in rule if rule[key] == plain["rule"][key]} == set()
    same = {key for key in rule["filter"] if rule["filter"][key] == plain["rule"]["filter"][key]}
    assert same == {"current", "as_of"}, "what holds, and when, is said at each assembly"
    freed = "category=none without=none meta=none self_only=false since=none until=none used_since=none"
    freed += " window=0 select=budget limit=0 dedup=0 rescore=none"
    assert amgs("frame", "define", "WHOLE", *freed.split()) == 0
    made = asked(amgs, "frame", "list", "WHOLE")
    assert made["rule"]["filter"] == {**plain["rule"]["filter"], "statuses": ["raw"]}
    assert (made["rule"]["window_hours"], made["rule"]["top_k"]) == (None, None)
    assert (made["semantic_threshold"], made["rescore"]) == (None, None)
    assert amgs("frame", "define", "WHOLE", "child=SELF:1") == 0
    assert amgs("frame", "define", "WHOLE", "child=none") == 0
    assert asked(amgs, "frame", "list", "WHOLE")["children"] == []
    assert amgs("frame", "define", "WHOLE", "since=soon") == 2 and "Invalid time" in amgs.err
    assert amgs("frame", "define", "WHOLE", "category=none", "category=task") == 2
