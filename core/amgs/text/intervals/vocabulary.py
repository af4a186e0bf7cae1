"""The words of dates, in lower case: months, weekdays, units, numbers, and the words that point from the day."""

from __future__ import annotations


def _words(listed: str) -> list[str]:
    return listed.split()


_MONTHS = _words("january february march april may june july august september october november december")
_WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")

MONTHS = {name: i for i, name in enumerate(_MONTHS, 1)}
MONTHS |= {name[:3]: i for name, i in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name: i for i, name in enumerate(_WEEKDAYS)}
SHORT_WEEKDAYS = {name[:3]: i for name, i in WEEKDAYS.items()} | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}

UNITS = {
    "day": "day",
    "night": "day",
    "week": "week",
    "wk": "week",
    "weekend": "weekend",
    "fortnight": "fortnight",
    "month": "month",
    "quarter": "quarter",
    "season": "season",
    "semester": "half",
    "year": "year",
    "yr": "year",
    "decade": "decade",
    "century": "century",
    "workweek": "workweek",
}
UNITS |= {f"{name}s": unit for name, unit in UNITS.items() if name != "century"} | {"centuries": "century"}
SEASONS = {"winter": 12, "spring": 3, "summer": 6, "fall": 9, "autumn": 9}
"""The month in which each begins, on the northern half of the earth."""

_ONES = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
ONES = {word: i for i, word in enumerate(_ONES)}
TENS = {word: 10 * i for i, word in enumerate(_TENS, 2)}
ORDINALS = {
    word: i
    for i, word in enumerate(
        _words(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
            "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ),
        1,
    )
} | {"thirtieth": 30}
DECADES = {f"{word[:-1]}ies": tens for word, tens in TENS.items()}

LAST = {"last", "past", "previous", "preceding", "prior"}
NEXT = {"next", "coming", "upcoming", "following"}
THIS = {"this", "current", "same", "present"}

FEW, SEVERAL = (2, 5), (3, 7)
"""How many "a few" and "several" may be."""
