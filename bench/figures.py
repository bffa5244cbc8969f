"""Figures: percentiles, and how they are printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """How durations are spread, in ms."""

    count: int
    p50: float
    p90: float
    p99: float
    most: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        """Of durations in seconds; raises ValueError when there are none."""
        if not seconds:
            raise ValueError("nothing was measured")
        ranked = sorted(seconds)
        p50, p90, p99 = (round(ranked[int(q * (len(ranked) - 1))] * 1000, 3) for q in (0.5, 0.9, 0.99))
        return cls(len(ranked), p50, p90, p99, round(ranked[-1] * 1000, 3))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain table: first column to the left, numbers to the right."""
    cells = [list(map(_cell, row)) for row in [heads, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def report(found: dict[str, Any], text: str, *, as_json: bool) -> None:
    """One JSON object, or the text for people."""
    print(json.dumps(found) if as_json else text, flush=True)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
