"""Whatever happens in whatever order: one end, nothing outlives it, and the ladder never stands still."""

from __future__ import annotations

from .walk import Walk


def test_what_must_hold_holds_on_any_way() -> None:
    for seed in range(120):
        walk = Walk(seed)
        walk.check()
        for _ in range(40):
            walk.step()
        walk.run_out()
        assert walk.settled == 1
