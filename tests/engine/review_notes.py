"""Two sets of notes in which some things changed and some disagree: of a bicycle cooperative and of a small surgery.

The rules were mended once after a look at what they missed in the first; the second was written afterwards and was
run once. A note: name, day of 2025, kind, title, text. Pairs are (earlier, later).
"""

# A note reads best on one line.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from amgs.ingest.raw_blocks import RawBlock

Note = tuple[str, int, str, str, str]
Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Labelled:
    """Notes, and which of them changed or disagree."""

    notes: Sequence[Note]
    superseded: Pairs
    contradicted: Pairs

    def drafts(self) -> list[RawBlock]:
        """The notes as drafts, each from a file of its own."""
        start = datetime(2024, 12, 31, 9, tzinfo=UTC)
        return [
            RawBlock(f"# {title}\n\n{text}", start + timedelta(days=day), {"source": f"{name}.md", "tags": [kind]})
            for name, day, kind, title, text in self.notes
        ]


_BICYCLES: tuple[Note, ...] = (
    ("opening", 10, "reference", "Opening hours", "The workshop is open Tuesday and Thursday from 16:00 to 20:00. Bring the bicycle clean."),
    ("opening-spring", 95, "decision", "Opening hours in spring", "From 8 April the workshop opens Wednesday and Friday instead. The times stay. See [[opening]]."),
    ("dues", 12, "reference", "Membership", "Membership costs 60 euros a year. Children ride along for nothing."),
    ("dues-raised", 140, "decision", "What it costs now", "The annual meeting raised the membership to 72 euros a year. Children as before."),
    ("landlord", 14, "person", "Our landlord", "The shed belongs to Signe Holt, who wants the rent in cash on the first. Her dog is called Bolt."),
    ("landlord-new", 200, "note", "The shed is sold", "Signe Holt has sold the shed; our landlord is now the harbour company. The rent goes to their account."),
    ("pump", 16, "place", "Where the pump is", "The big floor pump hangs behind the door, on the left hook."),
    ("pump-moved", 120, "note", "Pump", "I moved the big floor pump to the window, because the door kept knocking it down."),
    ("keys", 18, "reference", "Keys", "The second key of the shed lies with Petter in the bakery."),
    ("keys-changed", 160, "note", "The second key", "Petter gave the key back when the bakery closed. Maja at the ferry office keeps the second key from today."),
    ("supplier", 20, "reference", "Chains and cables", "We order chains from Velund, who deliver in four days."),
    ("supplier-new", 180, "decision", "New supplier", "Velund no longer delivers to islands. We order chains from Kadence from now on."),
    ('wifi', 22, 'reference', 'Network', "The password of the workshop network is gear-4471. Don't write it on the wall."),
    ("wifi-new", 150, "note", "Network again", "Somebody wrote it on the wall. The new password of the workshop network is gear-9025."),
    ("cashier", 24, "person", "Ove", "Ove Lind is the cashier of the cooperative and has been since it began. He counts twice."),
    ("cashier-new", 210, "note", "A new cashier", "Ove Lind has handed the till over to Amina Yusuf. Amina is the cashier from September."),
    ("torque", 26, "procedure", "Crank bolts", "Tighten crank bolts to 40 newton metres and check them after a week."),
    ("torque-new", 170, "note", "Crank bolts, corrected", "Crank bolts get 35 newton metres, not 40: the old figure was for steel."),
    ("ride", 28, "reference", "The Sunday ride", "The Sunday ride starts at the lighthouse at 09:30."),
    ("ride-new", 130, "note", "Sunday ride", "The Sunday ride starts at the church now, since the lighthouse road is closed."),
    ("insurance", 30, "reference", "Insurance", "The policy with Nordvakt covers theft from the shed up to 5,000 euros."),
    ("insurance-gone", 220, "note", "Insurance cancelled", "The policy with Nordvakt was cancelled in August. Nobody covers theft from the shed at present."),
    ("towing", 32, "procedure", "Broken down on the road", "If somebody breaks down, ring 0444 12 90 and ask for the van."),
    ("towing-new", 190, "note", "Van", "The number for the van has changed from 0444 12 90 to 0444 77 31."),
    ("soap", 34, "procedure", "Cleaning chains", "Clean chains with petroleum and a brush, outside."),
    ("soap-new", 205, "decision", "Cleaning", "We clean chains with citrus soap instead of petroleum. The brush stays."),
    ("founding-a", 40, "note", "How it began", "The cooperative was founded in 1987 by four postmen."),
    ("founding-b", 46, "note", "From the chronicle", "In 1989 four postmen founded the cooperative, says the chronicle."),
    ("length-a", 50, "place", "The coast path", "The coast path to Sandvik is 23 kilometres long and flat."),
    ("length-b", 58, "note", "Measured", "I measured the coast path to Sandvik: 26 kilometres, and there are hills."),
    ("members-a", 60, "note", "Members", "The cooperative has 112 members this spring."),
    ("members-b", 61, "note", "Count", "By my count the cooperative has 97 members this spring."),
    ("age-a", 62, "person", "Bolt", "Bolt is a brown dog. He is 6 years old."),
    ("age-b", 64, "note", "Bolt, again", "Bolt is 9 years old, it says so in his pass."),
    ("helmet-a", 66, "note", "The fall", "Tore wore a helmet when he fell at the mill bridge."),
    ("helmet-b", 67, "note", "The fall, as I saw it", "Tore did not wear a helmet when he fell at the mill bridge."),
    ("crash-a", 70, "observation", "Crash at the quay", "The van hit the quay railing at 14:10 this afternoon. Nobody was hurt."),
    ("crash-b", 70, "observation", "The quay railing", "It was 15:05 when the van hit the quay railing, I looked at the church."),
    ("weight-a", 72, "note", "The cargo bicycle", "The cargo bicycle carries 180 kilograms at most."),
    ("weight-b", 75, "note", "Plate of the cargo bicycle", "The plate says that the cargo bicycle carries 150 kilograms at most."),
    ("tandem", 80, "note", "The tandem", "The tandem weighs 19 kilograms and needs two to be carried."),
    ("maja", 82, "person", "Maja", "Maja works at the ferry office and is 31 years old. She mends lamps."),
    ("amina", 84, "person", "Amina", "Amina Yusuf is 44 years old and teaches the repair course."),
    ("course", 86, "reference", "Repair course", "The repair course has eight places and takes three evenings."),
    ("course-two", 99, "note", "Second repair course", "The second repair course has ten places, in the hall."),
    ("rain-a", 100, "observation", "Rain", "Rain all day. Two customers came."),
    ("rain-b", 107, "observation", "Rain once more", "Rain since noon. Five customers came."),
    ("tyres", 110, "reference", "Tyre pressure", "Road tyres take 7 bar, city tyres 4 bar."),
    ("tools", 112, "note", "Tools lent", "The bottom bracket tool is with Tore until Friday."),
    ("paint", 114, "note", "Paint", "The shed door was painted green. It took two tins."),
    ("ferry", 116, "reference", "Ferry", "The ferry to Sandvik leaves at 08:15 and 17:40. Bicycles pay 3 euros."),
    ("bakery", 118, "note", "Bakery", "Petter closes the bakery at the end of May and moves to the city."),
    ("lamp", 122, "note", "Lamp", "The lamp over the bench was replaced. It has 60 watts."),
    ("saddle", 124, "procedure", "Saddle height", "Set the saddle so that the heel just reaches the pedal."),
    ("auction", 126, "note", "Auction", "We sold eleven bicycles at the auction for 940 euros."),
    ("auction-autumn", 250, "note", "Autumn auction", "We sold nine bicycles at the autumn auction for 1,120 euros."),
    ("stand", 128, "note", "Repair stand", "A new repair stand came from the school. It folds."),
    ("lighthouse", 132, "place", "Lighthouse", "The lighthouse is 18 metres high and its road is closed for works."),
    ("mill", 134, "place", "Mill bridge", "The mill bridge is slippery when wet. Tore fell there."),
    ("thanks", 230, "note", "Thanks", "The harbour company paid for the summer party. Ove sang."),
    ("brakes", 232, "procedure", "Brakes", "Change brake pads when less than 1 millimetre is left."),
    ("bearings", 234, "procedure", "Bearings", "Grease bearings twice a year with the white grease."),
)

BICYCLES = Labelled(_BICYCLES, frozenset((
    ("opening", "opening-spring"),
    ("dues", "dues-raised"),
    ("landlord", "landlord-new"),
    ("pump", "pump-moved"),
    ("keys", "keys-changed"),
    ("supplier", "supplier-new"),
    ("wifi", "wifi-new"),
    ("cashier", "cashier-new"),
    ("torque", "torque-new"),
    ("ride", "ride-new"),
    ("insurance", "insurance-gone"),
    ("towing", "towing-new"),
    ("soap", "soap-new"),
)), frozenset((
    ("founding-a", "founding-b"),
    ("length-a", "length-b"),
    ("members-a", "members-b"),
    ("age-a", "age-b"),
    ("helmet-a", "helmet-b"),
    ("crash-a", "crash-b"),
    ("weight-a", "weight-b"),
)))

_SURGERY: tuple[Note, ...] = (
    ("surgery", 5, "reference", "When the surgery is open", "Dr Okafor sees patients on Monday and Wednesday mornings, without appointment."),
    ("surgery-appointments", 90, "note", "Appointments", "Patients without an appointment are no longer seen. Dr Okafor asks everybody to ring first."),
    ("fridge", 8, "procedure", "The vaccine fridge", "Keep the vaccine fridge at 4 degrees and read the display twice a day."),
    ("fridge-new", 100, "note", "Fridge", "The new vaccine fridge is set to 5 degrees; the maker wants it so."),
    ("nurse", 9, "person", "Nurse", "Ingrid Solberg is the district nurse. She comes by boat on Thursdays."),
    ("nurse-leaves", 120, "note", "Farewell", "Ingrid Solberg retired yesterday with a speech and a cake."),
    ("bandages", 11, "reference", "Stores", "Bandages and syringes are kept in the cellar, third shelf."),
    ("bandages-up", 110, "note", "Stores again", "After the flood the bandages and syringes were moved from the cellar to the attic."),
    ("boat", 12, "reference", "The boat", "The boat for emergencies lies at pier 2. The key hangs in the kitchen."),
    ("boat-pier", 130, "note", "Boat", "Since the storm the boat for emergencies lies at pier 6."),
    ("fee", 14, "reference", "Fee", "A visit costs 20 crowns, for pensioners 10 crowns."),
    ("fee-gone", 150, "decision", "No fee", "The council abolished the fee for a visit. Nobody pays anything any more."),
    ("doctor-phone", 15, "reference", "Night telephone", "At night ring 77 12 04."),
    ("doctor-phone-new", 140, "note", "Night telephone, new", "At night ring 77 30 91 from now on."),
    ("cleaner", 16, "person", "Cleaning", "The rooms are cleaned by Pavel on Saturday."),
    ("cleaner-new", 160, "note", "Cleaning, since June", "Pavel has been replaced by a firm from the mainland, which cleans the rooms on Sunday."),
    ("files", 17, "procedure", "Files", "Patient files are kept for ten years and then burned."),
    ("files-law", 170, "decision", "How long we keep files", "By the new law patient files are kept for fifteen years."),
    ("built-a", 20, "note", "The house", "The surgery was built in 1911 as a customs house."),
    ("built-b", 21, "note", "Over the door", "Over the door it says that the customs house was built in 1908."),
    ("beds-a", 22, "note", "Beds", "The surgery has four beds upstairs."),
    ("beds-b", 23, "note", "Inventory", "Counted today: the surgery has five beds upstairs."),
    ("allergy-a", 24, "person", "Old Henrik", "Henrik is allergic to penicillin."),
    ("allergy-b", 25, "note", "Henrik", "Henrik says that he is not allergic to penicillin and never was."),
    ("dose-a", 26, "note", "The dose", "The child got 250 milligrams at noon."),
    ("dose-b", 26, "note", "Dose at noon", "I gave the child 200 milligrams at noon."),
    ("stairs", 30, "note", "Stairs", "The stairs to the attic are steep and have fourteen steps."),
    ("x-ray", 31, "reference", "X-ray", "The nearest X-ray is on the mainland, 40 minutes by boat."),
    ("flood", 105, "observation", "Flood", "The cellar stood under water for two days. Four boxes were lost."),
    ("storm", 125, "observation", "Storm", "Storm from the west, pier 2 lost its planks."),
    ("cake", 121, "note", "Cake", "Recipe for the cake: six eggs, 200 grams of butter."),
    ("patients-jan", 32, "observation", "January", "In January 61 patients came."),
    ("patients-feb", 60, "observation", "February", "In February 54 patients came."),
    ("okafor", 33, "person", "Dr Okafor", "Dr Okafor is 52 years old and fishes."),
    ("ingrid-age", 34, "person", "Ingrid", "Ingrid is 64 years old and rows her own boat."),
    ("blood", 35, "procedure", "Blood samples", "Blood samples leave with the morning ferry, before 08:00."),
    ("ferry", 36, "reference", "Ferry", "The ferry leaves at 08:10 and 16:30."),
    ("meeting", 155, "note", "Council", "The council met for three hours and talked about the harbour."),
    ("paint", 37, "note", "Paint", "The waiting room was painted white."),
    ("cat", 38, "note", "Cat", "The cat of the surgery had three kittens."),
)

SURGERY = Labelled(_SURGERY, frozenset((
    ("surgery", "surgery-appointments"),
    ("fridge", "fridge-new"),
    ("nurse", "nurse-leaves"),
    ("bandages", "bandages-up"),
    ("boat", "boat-pier"),
    ("fee", "fee-gone"),
    ("doctor-phone", "doctor-phone-new"),
    ("cleaner", "cleaner-new"),
    ("files", "files-law"),
)), frozenset((
    ("built-a", "built-b"),
    ("beds-a", "beds-b"),
    ("allergy-a", "allergy-b"),
    ("dose-a", "dose-b"),
)))
