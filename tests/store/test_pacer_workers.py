"""Who may begin a call when several workers ask at once, or too few work. The limits are test_pacer.py's."""

from __future__ import annotations

from handoff.limits import Held, Limits
from handoff.models import Urgency
from handoff.moments import SECOND
from handoff.store import Hold, Store

from .test_pacer import NOW, Line

FIFTY = Limits(calls_per_second=50)


def test_workers_that_ask_in_any_order_leave_no_slot_empty_and_the_urgent_come_first(store: Store) -> None:
    """Ten slots came while nobody looked: whoever of the first ten asks has one of them."""
    line = Line(store, FIFTY)
    waiting = [f"c{number:02d}" for number in range(20)]
    line.asks("before")
    for number, name in enumerate(waiting):
        line.asks(name, since=NOW + number)
    at = NOW + 200
    went = [
        name
        for number, name in reversed(list(enumerate(waiting)))
        if not line.asks(name, at, since=NOW + number)
    ]
    assert went == waiting[9::-1]
    line.asks("critical", at, urgency=Urgency.CRITICAL)
    at += 100
    assert line.asks("c10", at, since=NOW + 10), "not before what is more urgent"
    assert line.asks("critical", at, urgency=Urgency.CRITICAL) is None
    assert line.asks("c10", at, since=NOW + 10) is None


def test_the_first_few_are_woken_for_their_slots_and_the_others_sleep_on(store: Store) -> None:
    line = Line(store, FIFTY)
    line.asks("before")
    for number in range(40):
        held = line.asks(f"c{number:02d}", since=NOW + number)
        assert held == Hold(Held.RATE, NOW + 20 * (number + 1))
        line.row(f"c{number:02d}", held.until)
    for number in range(20):
        line.leaves(f"c{number:02d}")
    due = [line.due(f"c{number}") for number in range(20, 40)]
    assert due == [NOW + 20 * number for number in (*range(1, 11), *range(31, 41))]


def test_where_workers_are_short_the_last_ones_leave_them_to_the_first(store: Store) -> None:
    line, late = Line(store, FIFTY), NOW + 5 * SECOND
    for number in range(61):
        line.asks(f"c{number:02d}", since=NOW + number)
    assert line.asks("c60", late, since=NOW + 60) is None, "a second's slots are left over"
    assert line.asks("c59", late, since=NOW + 59) == Hold(Held.RATE, late + 58 * 20 * 4)
    assert line.asks("c40", late, since=NOW + 40) is None
