"""The rules of supersession and contradiction, one by one and on notes that they were not written for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from amgs.errors import Cancelled
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.conflict import Words, find_conflict
from amgs.lifecycle.supersede import CONFIDENCE
from amgs.text.claims import claims
from amgs.types import Block, Progress
from tests.engine.memory_world import open_memory
from tests.engine.review_notes import BICYCLES, SURGERY, Labelled

DAY = datetime(2026, 1, 1, tzinfo=UTC)
COMMON = tuple(
    Block(str(n), f"Some words that many notes hold: weather, people, house, table {n}.", DAY, DAY) for n in range(30)
)


def found(older: str, newer: str, *, days: int = 5, linked: bool = False, **more: str) -> tuple[str, str] | None:
    """(kind, because) for two texts some days apart."""
    later = DAY + timedelta(days=days)
    names = {"entities": more.get("names", "").split()}
    one = Block("a", older, DAY, DAY, category=more.get("kind", "note"), meta={"source": "old-rule.md", **names})
    two = Block("b", newer, later, later, category=more.get("then", "note"), meta={"source": "b.md", **names})
    verdict = find_conflict(one, two, 0.5, linked, Words.of((one, two, *COMMON)))
    return None if verdict is None or verdict[1] < CONFIDENCE else (verdict[0], verdict[2])


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The ferry costs 30 crowns.", "The ferry now costs 35 crowns, not 30."),
        ("The archive is in the basement.", "Scratch that, the archive is in the attic."),
        ("We meet in the chapel.", "Correction: we meet in the library."),
        ("Wir streichen den Rumpf grün.", "Korrektur: wir streichen den Rumpf weiß."),
        ("Pintamos el casco de verde.", "Corrección: pintamos el casco de blanco."),
        ("Dipingiamo lo scafo di verde.", "Correzione: dipingiamo lo scafo di bianco."),
        ("Ring 0555 20 12 31 for the boat.", "The boat's number changed from 0555 20 12 31 to 0555 20 18 77."),
        ("The kitchen opens Tuesday to Thursday.", "The kitchen opens Monday, not anymore Tuesday to Thursday."),
        ("We polish lenses with chalk and felt.", "We polish lenses with oxide instead of chalk."),
        (
            "The spare lantern hangs behind the pantry door.",
            "The spare lantern was moved from the pantry to the attic.",
        ),
        (
            "The contract with Halvard covers storm damage.",
            "The contract with Halvard was cancelled; storm damage is ours.",
        ),
        ("Ada Berg is the chair of the society.", "Nils Holm is the chair from May."),
        ("# The chair\n\nAda Berg has led the society since 2004.", "Our chair is now Nils Holm."),
        ("The museum closes at 17:00.", "# New hours\n\nFrom 1 May the museum closes at 18:30."),
        # in other words
        ("The meeting room is on the second floor.", "Actually it is the third floor, the meeting room."),
        ("Tomas brings the projector.", "Tomas no longer brings the projector."),
        ("The standup is in the blue room.", "We moved the standup to the green room."),
        ("We order the tiles in grey.", "Scratch that, we order the tiles in beige."),
        ("The deadline of the grant is 3 June.", "Correction: the deadline of the grant is 30 June."),
        ("Swimming in the quarry is forbidden.", "Swimming in the quarry is allowed again."),
        ("The frontend is built with webpack.", "The frontend is built with vite instead of webpack."),
        ("The vet is Dr Hale.", "The vet is not Dr Hale but Dr Moss."),
        (
            "The admin password policy asks for 10 characters.",
            "The admin password policy was changed to 14 characters.",
        ),
        ("The nightly job runs at 02:00.", "Now it's 04:30 that the nightly job runs."),
        ("Olga is the treasurer of the club.", "Olga is not the treasurer of the club any more."),
        ("The bus to the lake stops at the church.", "The bus to the lake doesn't stop at the church anymore."),
        ("The budget for the garden is 400 euros.", "I was wrong: the budget for the garden is 650 euros."),
        ("The API returns XML.", "The API returns JSON now, not XML."),
        ("The recipe takes two eggs.", "Sorry, I meant three eggs for the recipe."),
        ("Our office is in Harbour Street.", "We have moved our office to Mill Lane."),
        ("Never deploy on Fridays.", "Deploying on Fridays is fine again."),
        ("The default branch is master.", "The default branch was renamed from master to main."),
        ("Use yarn for the web client.", "Use pnpm rather than yarn for the web client."),
        ("The contact for invoices is Petra.", "Update: the contact for invoices is Selma."),
        ("The sauna is closed on Sundays.", "The sauna isn't closed on Sundays after all."),
        ("The bike is locked with code 4412.", "Disregard that, the bike is locked with code 9071."),
        ("We paint the fence brown.", "Scratch that, we paint the fence black."),
        ("The launch date is 12 August.", "The launch date slipped to 26 August."),
    ],
)
def test_what_changed_is_found(older: str, newer: str) -> None:
    verdict = found(older, newer)
    assert verdict is not None and verdict[0] == "supersedes", verdict


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The tower of Sundby is 41 metres high.", "The tower of Sundby is 38 metres high by the surveyor's book."),
        ("# Mimi\n\nShe is 13 years old.", "# Mimi is 9\n\nIt says so in her pass."),
        ("I measured the pond at Sand: 12 metres.", "The pond at Sand is 9 metres deep."),
        ("The museum is closed on Mondays.", "The museum is open on Mondays."),
        ("Der Hund darf aufs Sofa.", "Der Hund darf nicht aufs Sofa."),
        ("Le chien peut monter sur le canapé.", "Le chien ne peut pas monter sur le canapé."),
        ("El perro puede subir al sofá.", "El perro no puede subir al sofá."),
        ("Tove wore gloves when she fell at the weir.", "Tove did not wear gloves when she fell at the weir."),
    ],
)
def test_what_disagrees_is_found(older: str, newer: str) -> None:
    verdict = found(older, newer)
    assert verdict is not None and verdict[0] == "contradicts", verdict


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ada is 57 years old and keeps bees.", "Nils is 13 years old and plays chess."),
        ("The repair course has eight places.", "The second repair course has ten places."),
        ("Hall B seats 200.", "Hall D seats 350."),
        ("The north gate is open.", "The south gate is closed."),
        ("Wir gehen heute schwimmen.", "Wir gehen heute nicht rudern."),
        ("Das Boot ist weiß.", "Das Boot ist nicht grün."),
        ("Der Hund darf aufs Bett.", "Der Hund darf nicht aufs Sofa."),
        ("Die Arbeit ist am Montag.", "Korrektur der Arbeit ist am Montag."),
        ("Update the router on Monday.", "Update the printer on Monday."),
        ("We sold eleven bicycles at the fair.", "We sold nine bicycles at the fair."),
        ("Wind gave up at four, says the stone.", "The stone says: wind gave up at four."),
        ("Parking in Orsel is free after 17:00.", "From today we buy nitrogen in Orsel, Thursdays at 13:00."),
        ("He had a green binder and a second green binder.", "He was given a third green binder."),
        # a licence, the number of an issue, markup, a version
        ("Copyright 2020 The Harbour Team.", "Copyright 2021 The Harbour Team."),
        ("- Close the pool of boats on exit (#1223)", "- Close the pool of boats on exit (#1346)"),
        (
            '<img src="https://boats.example/pool.gif" width="40">',
            '<img src="https://boats.example/pool.gif" width="1">',
        ),
        ("The boat library works with Python 3.10.", "The boat library works with Python 3.11."),
        # of things with other names
        ("The ferry to Tvedt costs 30 crowns.", "The ferry to Rønvik now costs 35 crowns, not 30."),
        ("The Garde bakery opens at 7:30 on Mondays.", "The Pellworm bakery now opens at 8:30 on Mondays."),
        ("The well of Garde is 22 metres deep.", "The well of Tvedt is 31 metres deep."),
        (
            "The contract of the Garde dairy with Halvard covers storm damage.",
            "The contract of the Tvedt dairy with Halvard was cancelled; storm damage is theirs.",
        ),
        (
            "The spare lantern of the Garde hut lies with Henrik.",
            "The spare lantern of the Tvedt hut was moved from Henrik to Solveig.",
        ),
        ("Ada Berg is the chair of the Garde society.", "Nils Holm is the chair of the Tvedt society from May."),
        ("In Garde we polish lenses with chalk and felt.", "In Tvedt we polish lenses with oxide instead of chalk."),
        # both may hold
        ("Hall 2 is free on Monday.", "Hall 5 is free on Tuesday."),
        ("Write the tests for the importer in pytest.", "Do not forget to run the tests for the importer."),
        ("Lina plays the cello.", "Matteo plays the horn."),
        ("The red kettle boils in 3 minutes.", "The blue kettle boils in 5 minutes."),
        ("Use the cache for the search page.", "Do not forget to warm the cache for the search page."),
        ("The bus to the lake takes 20 minutes.", "The bus to the castle takes 35 minutes."),
        ("The east wing has 12 rooms.", "The west wing has 9 rooms."),
        ("The choir meets on Tuesday.", "The choir sings in the church on Sunday."),
        ("Actually I like the new library.", "The library has a nice roof."),
        ("We moved to the front row to see better.", "The front row was empty."),
        ("Python 3.11 is on the build server.", "Python 3.12 is on the laptop."),
        ("Water the ferns on Wednesday.", "Don't forget the ferns on Saturday too."),
        ("Backups of the shop run at 01:00.", "Backups of the forum run at 03:00."),
        ("I swam 800 metres today.", "I swam 1,200 metres today."),
        ("Anna has the key of the cellar.", "Anna has the key of the attic."),
        ("Remember to enable logging in the worker.", "Never forget to enable logging in the worker."),
        ("The first lap took 52 seconds.", "The second lap took 55 seconds."),
        ("Buy milk and bread on Friday.", "Buy eggs and bread on Saturday."),
        ("The kids no longer nap.", "The nursery has twelve kids."),
        ("Pay the plumber instead of calling again.", "The plumber comes at noon."),
        ("Room 4 costs 80 euros.", "Room 6 costs 95 euros."),
        ("Dora waters the plants in July.", "Dora waters the plants in August too."),
        ("The garage code is 3391.", "The alarm code is 8802."),
        ("Track 9 is for the train to Kassel.", "Track 11 is for the train to Bremen."),
        ("The gym is open on Saturday.", "The gym is open on Sunday."),
        ("The blue team won 3 games.", "The green team won 5 games."),
        ("Do not forget the milk.", "The milk is in the fridge."),
        ("Check the oil before a long trip.", "Never forget to check the oil before a long trip."),
        ("I ran 5 km on Monday.", "I ran 8 km on Wednesday."),
        ("Sorry I was late for the meeting.", "The meeting was about the roof."),
        ("Update the app on the tablet.", "The tablet lies in the drawer."),
        ("Ship the blue crates by train.", "Ship the red crates by truck."),
        ("Actually this soup is great.", "The soup needs salt."),
        ("Invoice 211 is paid.", "Invoice 212 is not paid."),
    ],
)
def test_what_only_looks_like_it_says_nothing_against_the_other(older: str, newer: str) -> None:
    assert found(older, newer) is None


def test_an_amendment_is_one_only_of_what_it_names() -> None:
    amended = "The disk goes to the cellar. The rest of [[old-rule]] is unchanged."
    assert found("The disk goes to the school.", amended, linked=True) is not None
    other = "The disk goes to the cellar. The rest of [[another-rule]] is unchanged."
    assert found("Pears are ripe in autumn.", other, linked=True) is None
    assert found("Pears are ripe in autumn.", "I laid this beside [[old-rule]].", linked=True) is None


def test_a_pronoun_and_a_colon_carry_the_subject_on() -> None:
    _, second = claims("The set screw of the hub was glued. It has not been touched since 2019.")
    assert {"set", "screw", "hub"} <= second.topic and "screw" not in second.subject
    _, value = claims("I measured the pond at Sand: 12 metres.")
    assert "pond" in value.topic
    _, other = claims("The set screw of the hub was glued. Nobody came for dinner.")
    assert "screw" not in other.topic


def test_a_month_begins_a_change_and_no_span() -> None:
    texts = (
        "From 1 May the museum closes later.",
        "From May the museum closes later.",
        "From May 15 the museum closes later.",
        "The storm struck Orsel from May 15 to 16.",
        "The storm struck Orsel from May 15, 1968 until June.",
    )
    assert [bool(claims(text)[0].change) for text in texts] == [True, True, True, False, False]


def test_a_run_of_values_is_taken_back_as_one() -> None:
    (claim,) = claims("Open Monday and Friday, no longer Tuesday to Thursday.")
    assert {v.amount: v.replaced for v in claim.values} == {
        "monday": False,
        "friday": False,
        "tuesday": True,
        "thursday": True,
    }


def _measured(labelled: Labelled) -> tuple[int, int, int]:
    """(found, of them with the right kind, proposals)."""
    with open_memory(now=datetime(2026, 1, 1, tzinfo=UTC)) as memory:
        memory.ingest_many(labelled.drafts())
        memory.consolidate()
        plan = memory.lifecycle.plan_review()
        name = {b: str(memory.block(b).meta["source"])[:-3] for r in plan.found for b in (r.older_id, r.newer_id)}
    seen = {(name[r.older_id], name[r.newer_id]): r.kind for r in plan.found}
    right = sum(seen.get(p) == "supersedes" for p in labelled.superseded)
    right += sum(seen.get(p) == "contradicts" for p in labelled.contradicted)
    return len(seen.keys() & (labelled.superseded | labelled.contradicted)), right, len(seen)


def test_most_of_what_changed_is_found_in_notes_of_another_kind() -> None:
    """Measured: 17 of 20 with 20 proposals, and 12 of 13 with 12."""
    listed, right, proposals = _measured(BICYCLES)
    assert listed >= 16 and right >= 15 and listed / proposals >= 0.75
    listed, right, proposals = _measured(SURGERY)
    assert listed >= 11 and right >= 9 and listed / proposals >= 0.75


def test_a_look_reports_and_can_be_cancelled() -> None:
    with open_memory() as memory:
        memory.ingest_many(SURGERY.drafts())
        memory.consolidate()
        doing: list[str] = []
        progress = Progress(lambda done, total, what: doing.append(what))
        memory.lifecycle.plan_review(progress=progress)
        assert set(doing) == {"finding similar blocks", "comparing pairs", "comparing blocks"}
        progress.cancel()
        with pytest.raises(Cancelled):
            memory.lifecycle.plan_review(progress=progress)


def test_of_two_texts_of_one_time_none_supersedes_the_other() -> None:
    older = "# Rent\n\nThe rent of the boat house is 120 crowns a month."
    newer = "# Rent\n\nFrom May the rent of the boat house is 135 crowns a month, not 120."
    assert (found(older, newer, days=9) or ("",))[0] == "supersedes"
    assert (found(older, newer, days=0) or ("",))[0] != "supersedes"


def test_a_title_that_is_nothing_but_a_name_says_what_its_statements_are_about() -> None:
    older, newer = (
        "# {}\n\nThe census of 2010 counted 1,089 people.",
        "# {}\n\nThe census of 2010 counted 16,283 people.",
    )
    names = "Tvedt Rønvik Ada Nils"
    assert found(older.format("Tvedt"), newer.format("Rønvik"), names=names) is None
    assert found(older.format("Tvedt"), newer.format("Tvedt"), names=names) is not None
    assert found(older.format("What Ada wrote"), newer.format("Nils at dinner"), names=names) is not None


def test_a_name_that_opens_a_statement_is_known_from_the_entities_of_its_block() -> None:
    older, newer = "Henrik is 57 metres up on the ladder.", "Now Solveig is 60 metres up on the ladder."
    assert found(older, newer) is not None
    assert found(older, newer, names="Henrik Solveig") is None
    older, newer = ("# Garde mill\n\nThe rent is 30 crowns.", "# Tvedt mill\n\nThe rent is now 35 crowns, not 30.")
    assert found(older, newer) is not None
    assert found(older, newer, names="Garde Tvedt") is None
    assert found(older.replace("Garde", "Tvedt"), newer, names="Garde Tvedt") is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The ferry to Tvedt costs 30 crowns.", "The ferry to Tvedt now costs 35 crowns, not 30."),
        ("Ada Berg is the chair of the Garde society.", "Nils Holm is the chair of the Garde society from May."),
        (
            "The spare lantern of the Garde hut lies with Henrik.",
            "The spare lantern of the Garde hut was moved from Henrik to Solveig.",
        ),
        ("Henrik measured the well of Garde: 22 metres.", "Solveig says the well of Garde is 31 metres deep."),
        (
            "The rope of the ferry to Tvedt holds 40 kilograms.",
            "Solveig decided that the rope of the ferry now holds 30 kilograms.",
        ),
    ],
)
def test_other_names_for_who_holds_or_says_it_are_no_other_thing(older: str, newer: str) -> None:
    assert found(older, newer) is not None


def test_a_correction_minutes_later_supersedes() -> None:
    with open_memory() as memory:
        for minutes, text in enumerate(
            ("The choir sings in the barn.", "Scratch that, the choir sings in the chapel.")
        ):
            memory.ingest_many([RawBlock(text, DAY + timedelta(minutes=minutes))])
        memory.consolidate()
        assert [review.kind for review in memory.lifecycle.plan_review().found] == ["supersedes"]
