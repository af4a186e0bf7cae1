"""The commonest English words: those that ask, point and join, and say nothing of what a text is about."""

from __future__ import annotations

import re

COMMON_WORDS: tuple[str, ...] = tuple(
    re.findall(
        r"\w+",
        "a an the and or but nor if then than so as at by for from in into of on onto to up with about "
        "am are is was were be been being do does did done have has had having can could will would shall "
        "should may might must i me my mine you your yours he him his she her hers it its we us our ours "
        "they them their theirs this that these those there here what when where which who whom whose "
        "why how not no any some such too very just also s t d ll re ve m",
    )
)
"""In lower case; single letters are what is left of "it's", "don't" and "I'll"."""
