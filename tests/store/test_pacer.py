"""Who may begin a call now: the account's rate, the urgent first; each number's caps; the day's ceiling."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handoff.limits import Held, Limits, parse_caps
from handoff.models import Urgency
from handoff.moments import DAY, HOUR, MINUTE, SECOND
from handoff.store import Hold, Pacer, Store

NOW = 1_800_000_000_000
ADA, BEN = "+12125550123", "+12125550124"

Ask = Callable[..., Hold | None]


@pytest.fixture
def pacer(store: Store) -> Pacer:
    return Pacer(store.connections, store.keys)


@pytest.fixture
def ask(pacer: Pacer) -> Ask:
    """Asks for the call `name`; due since NOW, to a number of its own, unless said otherwise."""

    def asked(
        name: str,
        limits: Limits,
        at: int = NOW,
        *,
        to: str | None = None,
        urgency: Urgency = Urgency.NORMAL,
        since: int = NOW,
    ) -> Hold | None:
        return pacer.hold(name, to or name, urgency, since, limits, at)

    return asked


ONE_A_SECOND = Limits(calls_per_second=1)


def test_without_limits_every_call_begins_at_once(ask: Ask) -> None:
    assert [ask(f"c{number}", Limits(), to=ADA) for number in range(20)] == [None] * 20


def test_the_second_call_waits_for_its_slot_and_the_third_for_the_one_after(ask: Ask) -> None:
    assert ask("a", ONE_A_SECOND) is None
    assert ask("b", ONE_A_SECOND, since=NOW + 1) == Hold(Held.RATE, NOW + SECOND)
    assert ask("c", ONE_A_SECOND, since=NOW + 2) == Hold(Held.RATE, NOW + 2 * SECOND)
    assert ask("b", ONE_A_SECOND, NOW + SECOND, since=NOW + 1) is None
    assert ask("c", ONE_A_SECOND, NOW + SECOND, since=NOW + 2) == Hold(Held.RATE, NOW + 2 * SECOND)


def test_over_a_minute_as_many_begin_as_the_rate_says(ask: Ask) -> None:
    """However late each is asked for: the clock looks every now and then."""
    waiting, begun, at = [f"c{number}" for number in range(100)], 0, NOW
    while at < NOW + MINUTE:
        for name in tuple(waiting):
            if ask(name, ONE_A_SECOND, at, since=NOW + int(name[1:])) is None:
                waiting.remove(name)
                begun += 1
        at += 230
    assert 60 <= begun <= 62


def test_what_is_critical_begins_before_those_that_wait_longer(ask: Ask) -> None:
    for number in range(5):
        ask(f"c{number}", ONE_A_SECOND, since=NOW + number)
    for urgency in (Urgency.LOW, Urgency.HIGH, Urgency.CRITICAL):
        ask(urgency.value, ONE_A_SECOND, urgency=urgency, since=NOW + 100)
    begun, at = [], NOW
    while len(begun) < 8 and at < NOW + MINUTE:
        at += 100
        for name in ("low", "c0", "c1", "c2", "c3", "c4", "high", "critical"):
            urgency = Urgency(name) if name in list(Urgency) else Urgency.NORMAL
            since = NOW + (int(name[1:]) if name[0] == "c" and name[1].isdigit() else 100)
            if name not in begun and ask(name, ONE_A_SECOND, at, urgency=urgency, since=since) is None:
                begun.append(name)
    assert begun[begun.index("critical") + 1] == "high"
    assert begun.index("high") < begun.index("c2") and begun[-1] == "low"


def test_a_call_that_was_told_to_go_is_told_so_again_and_counts_once(ask: Ask) -> None:
    caps = Limits(number_caps=parse_caps("1/1m"))
    assert ask("a", caps, to=ADA) is None
    assert ask("a", caps, NOW + 5, to=ADA) is None
    assert ask("b", caps, NOW + 5, to=ADA) == Hold(Held.NUMBER, NOW + MINUTE)


def test_whoever_leaves_the_queue_does_not_hold_it_up(ask: Ask, pacer: Pacer) -> None:
    ask("a", ONE_A_SECOND)
    ask("gone", ONE_A_SECOND, NOW + 2)
    ask("b", ONE_A_SECOND, NOW + 2, since=NOW + 1)
    pacer.leave("gone")
    assert ask("b", ONE_A_SECOND, NOW + 2 * SECOND, since=NOW + 1) is None


def test_a_number_is_rung_as_often_as_its_caps_allow(ask: Ask) -> None:
    caps = Limits(number_caps=parse_caps("1/1m 3/15m"))
    for number in range(3):
        assert ask(f"c{number}", caps, NOW + number * MINUTE, to=ADA) is None
    assert ask("c3", caps, NOW + 3 * MINUTE, to=ADA) == Hold(Held.NUMBER, NOW + 15 * MINUTE)
    assert ask("other", caps, NOW + 3 * MINUTE, to=BEN) is None
    assert ask("c3", caps, NOW + 15 * MINUTE, to=ADA) is None


def test_a_call_that_did_not_begin_is_not_counted_against_its_number(ask: Ask, pacer: Pacer) -> None:
    caps = Limits(number_caps=parse_caps("1/1m"))
    assert ask("a", caps, to=ADA) is None
    pacer.did_not_begin("a", ADA)
    assert ask("b", caps, NOW + 1, to=ADA) is None


def test_caps_do_not_hold_what_is_critical(ask: Ask) -> None:
    caps = Limits(number_caps=parse_caps("1/1m"))
    assert ask("a", caps, to=ADA) is None
    assert ask("b", caps, to=ADA, urgency=Urgency.CRITICAL) is None


def test_the_last_tenth_of_a_days_calls_is_kept_for_what_is_critical(ask: Ask) -> None:
    ten = Limits(calls_a_day=10)
    assert [ask(f"c{number}", ten) for number in range(9)] == [None] * 9
    midnight = (NOW // DAY + 1) * DAY
    assert ask("more", ten) == Hold(Held.DAY, midnight)
    assert ask("urgent", ten, urgency=Urgency.CRITICAL) is None
    assert ask("urgent too", ten, urgency=Urgency.CRITICAL) == Hold(Held.DAY, midnight)
    assert ask("more", ten, midnight) is None, "a day later"


def test_a_ceiling_in_money_counts_minutes_that_were_talked(ask: Ask, pacer: Pacer) -> None:
    money = Limits(money_a_day=1.0, price_a_minute=0.1)
    assert ask("a", money) is None
    pacer.spent(0.75, NOW)
    held = ask("b", money)
    assert held is not None and held.why is Held.DAY
    assert ask("c", money, urgency=Urgency.CRITICAL) is None


def test_a_clock_that_was_far_ahead_does_not_stop_all_calls(ask: Ask) -> None:
    ask("a", ONE_A_SECOND, NOW + 30 * DAY)
    assert ask("b", ONE_A_SECOND, NOW) is None


@pytest.mark.parametrize("text", ["1", "1/m", "0/1m", "1/0m", "1/1d", "x", "1/1m;2/1h"])
def test_caps_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be like"):
        parse_caps(text)


def test_caps_read_as_they_are_written() -> None:
    assert [(cap.count, cap.window_ms) for cap in parse_caps("2/30s 7/1h")] == [(2, 30 * SECOND), (7, HOUR)]
    assert parse_caps("none") == ()
