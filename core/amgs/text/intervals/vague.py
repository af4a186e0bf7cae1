"""The rules for words that say hardly when: each a wide interval, vague and of low confidence, and no day."""

from __future__ import annotations

from datetime import timedelta

from amgs.text.intervals.interval import DayInterval, Grain, Modality
from amgs.text.intervals.reading import Found, Reading

_AROUND_TODAY = {  # days back and ahead of today, confidence
    "recently": (60, 0, 0.4),
    "lately": (60, 0, 0.4),
    "these days": (60, 0, 0.4),
    "nowadays": (365, 0, 0.3),
    "the other day": (14, -2, 0.6),
    "the other week": (28, -7, 0.5),
    "the other night": (14, -2, 0.6),
    "a while ago": (365, -7, 0.3),
    "a while back": (365, -7, 0.3),
    "some time ago": (730, -14, 0.3),
    "a long time ago": (36500, -365, 0.3),
    "days ago": (14, -2, 0.5),
    "weeks ago": (90, -14, 0.5),
    "months ago": (540, -60, 0.5),
    "years ago": (7300, -730, 0.4),
    "in recent days": (14, 0, 0.5),
    "in recent weeks": (60, 0, 0.5),
    "in recent months": (365, 0, 0.5),
    "in recent years": (3650, 0, 0.4),
    "the last few days": (7, 0, 0.6),
    "soon": (0, 60, 0.3),
    "in the near future": (0, 180, 0.3),
    "one of these days": (0, 90, 0.3),
    "in the coming days": (-1, 14, 0.5),
    "in the coming weeks": (-1, 60, 0.5),
    "in the coming months": (-1, 365, 0.5),
}
_RUNNING = {"soon", "nowadays"}
"""Words that running text holds so often without a date in mind that they are read only when asked for."""


def _vague(r: Reading, i: int) -> Found | None:
    for phrase, (back, ahead, sure) in _AROUND_TODAY.items():
        end = r.after(i, phrase)
        if end is not None and not (phrase.endswith("s ago") and r.at(i - 1).isdigit()):
            first, last = r.today - timedelta(days=back), r.today + timedelta(days=ahead)
            return Found(
                end, DayInterval(first, last, Grain.DAY, Modality.VAGUE, sure), phrase not in _RUNNING
            )
    return None


VAGUE = (_vague,)
VAGUE_WORDS = {"recently", "lately", "nowadays", "other", "ago", "back", "recent", "soon", "future", "coming"}
"""One word of each phrase at least."""
