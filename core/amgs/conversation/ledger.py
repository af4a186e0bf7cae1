"""The ledger: what each stage did to the tokens. Every row begins where the last one ended."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.conversation.material import Fate
from amgs.types.conversation import ContextMessage, LedgerRow


def ledger(
    fates: Sequence[Fate],
    costs: Sequence[int],
    short: Sequence[int],
    made: Sequence[ContextMessage],
) -> tuple[LedgerRow, ...]:
    """Rows for what was read, masked, digested, left out and marked. short: tokens of each message as one line."""
    size = len(fates)
    masked, digested, dropped = (
        [place for place in range(size) if fates[place][0] == fate]
        for fate in ("masked", "digested", "dropped")
    )
    gaps = [one for one in made if one.fate == "dropped"]
    rows = [LedgerRow("history", sum(costs), 0, 0, sum(costs), size)]

    def stage(name: str, taken: int, added: int, messages: int, because: str) -> None:
        before = rows[-1].after
        rows.append(LedgerRow(name, before, taken, added, before - taken + added, messages, because))

    stage(
        "mask",
        sum(costs[place] for place in masked),
        sum(short[place] for place in masked),
        size,
        f"outputs of tools as one line: {len(masked):,}" if masked else "",
    )
    if digested:
        stage(
            "digest",
            sum(costs[place] for place in digested),
            sum(one.tokens for one in made if one.fate == "digested"),
            size,
            f"messages cited in part: {len(digested):,}",
        )
    stage(
        "select",
        sum(costs[place] for place in dropped),
        0,
        size - len(dropped),
        f"messages left out: {len(dropped):,}" if dropped else "",
    )
    stage(
        "render",
        0,
        sum(one.tokens for one in gaps),
        len(made),
        f"marks of gaps: {len(gaps):,}" if gaps else "",
    )
    return tuple(rows)
