"""Who may begin a call now: the account's rate, the urgent first; each number's caps; the day's ceiling."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handoff import effects
from handoff.limits import Held, Limits, parse_caps
from handoff.models import Call, Urgency
from handoff.moments import DAY, HOUR, MINUTE, SECOND
from handoff.store import Hold, Pacer, Plan, Store

NOW = 1_800_000_000_000
ADA, BEN = "+12125550123", "+12125550124"
ONE_A_SECOND = Limits(calls_per_second=1)


def call(name: str, to: str | None = None, since: int = NOW, key: str = "ak_1") -> Call:
    """A call that is due since then; to a number of its own, unless said otherwise."""
    return Call(
        id=name,
        contact="ada",
        contact_name="Ada",
        number=to or name,
        entries=(),
        ring_s=25,
        api_key=key,
        created_at=since,
    )


class Line:
    """One installation's pacer under these limits."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self.store = store
        self.pacer = Pacer(store.connections, store.keys, limits)

    def asks(
        self,
        name: str,
        at: int = NOW,
        *,
        to: str | None = None,
        urgency: Urgency = Urgency.NORMAL,
        since: int = NOW,
        key: str = "ak_1",
        share: int = 100,
    ) -> Hold | None:
        """The call of this name wants to begin."""
        return self.pacer.hold(call(name, to, since, key), urgency, at, share=share)

    def leaves(self, name: str, at: int = NOW) -> None:
        self.pacer.leave(call(name), at)

    def row(self, name: str, due: int) -> None:
        """The outbox has a row for this call, due then."""
        self.store.commit(Plan(effects=[effects.place_call(name, due)]), NOW)

    def due(self, name: str) -> float | None:
        """When the row of this call is due."""
        found = self.store.connections.commands.zscore(self.store.keys.due, f"place_call-{name}")
        return None if found is None else float(found)


Under = Callable[[Limits], Line]


@pytest.fixture
def under(store: Store) -> Under:
    return lambda limits: Line(store, limits)


def test_without_limits_every_call_begins_at_once_and_nothing_is_kept(under: Under, store: Store) -> None:
    line = under(Limits())
    assert [line.asks(f"c{number}", to=ADA) for number in range(20)] == [None] * 20
    assert not store.connections.commands.exists(store.keys.pace, store.keys.pace_waiting)


def test_the_second_call_waits_for_its_slot_and_the_third_for_the_one_after(under: Under) -> None:
    line = under(ONE_A_SECOND)
    assert line.asks("a") is None
    assert line.asks("b", since=NOW + 1) == Hold(Held.RATE, NOW + SECOND)
    assert line.asks("c", since=NOW + 2) == Hold(Held.RATE, NOW + 2 * SECOND)
    assert line.asks("b", NOW + SECOND, since=NOW + 1) is None
    assert line.asks("c", NOW + SECOND, since=NOW + 2) == Hold(Held.RATE, NOW + 2 * SECOND)


def test_over_twenty_seconds_as_many_begin_as_the_rate_says(under: Under) -> None:
    """However late each is asked for: the clock looks every now and then."""
    line = under(ONE_A_SECOND)
    waiting, begun, at = [f"c{number}" for number in range(30)], 0, NOW
    while at < NOW + 20 * SECOND:
        for name in tuple(waiting):
            if line.asks(name, at, since=NOW + int(name[1:])) is None:
                waiting.remove(name)
                begun += 1
        at += 230
    assert 20 <= begun <= 21


def test_what_is_critical_begins_before_those_that_wait_longer(under: Under) -> None:
    line = under(ONE_A_SECOND)
    for number in range(5):
        line.asks(f"c{number}", since=NOW + number)
    for urgency in (Urgency.LOW, Urgency.HIGH, Urgency.CRITICAL):
        line.asks(urgency.value, urgency=urgency, since=NOW + 100)
    begun: list[str] = []
    for at in range(NOW + 100, NOW + MINUTE, 100):
        for name in ("low", "c1", "c2", "c3", "c4", "high", "critical"):
            urgency = Urgency(name) if name in list(Urgency) else Urgency.NORMAL
            since = NOW + (int(name[1:]) if name[1:].isdigit() else 100)
            if name not in begun and line.asks(name, at, urgency=urgency, since=since) is None:
                begun.append(name)
    assert begun == ["critical", "high", "c1", "c2", "c3", "c4", "low"]


def test_two_hundred_at_once_begin_at_the_rate_the_urgent_first_then_by_age(under: Under) -> None:
    """Each asks again when it was told to, or when it is woken; the two critical ones came last."""
    line = under(ONE_A_SECOND)
    ranks = [*(("low", "normal", "high")[at % 3] for at in range(198)), "critical", "critical"]
    urgency = {f"c{at}": Urgency(rank) for at, rank in enumerate(ranks)}
    begun: list[tuple[str, int]] = []

    def ask(name: str, at: int) -> None:
        held = line.asks(name, at, urgency=urgency[name], since=NOW + int(name[1:]))
        if held is None:
            begun.append((name, at))
            line.store.connections.commands.zrem(line.store.keys.due, f"place_call-{name}")
        else:
            line.row(name, held.until)

    for number, name in enumerate(urgency):
        ask(name, NOW + number)
    waiting = line.store.connections.commands
    while rows := waiting.zrange(line.store.keys.due, 0, 0, withscores=True):
        row, due = rows[0]
        ask(str(row).removeprefix("place_call-"), max(round(due), begun[-1][1]))

    first, *others = [name for name, _ in begun]
    by_rank = sorted(others, key=lambda name: (-urgency[name].rank, int(name[1:])))
    assert first == "c0" and others == by_rank and len(begun) == 200
    assert [at for _, at in begun] == [NOW + number * SECOND for number in range(200)]


def test_whoever_waits_behind_one_that_left_is_woken_for_the_next_slot(under: Under) -> None:
    """Forty were held, each until its own turn; all but the last are withdrawn at once."""
    line = under(ONE_A_SECOND)
    for number in range(40):
        held = line.asks(f"c{number}", since=NOW + number)
        line.row(f"c{number}", held.until if held else NOW)
    assert line.due("c39") == NOW + 39 * SECOND
    for number in range(1, 39):
        line.leaves(f"c{number}", NOW + 500)
    assert line.due("c39") == NOW + SECOND
    assert line.asks("c39", NOW + SECOND, since=NOW + 39) is None


def test_one_that_never_asks_again_holds_nobody_up_for_long(under: Under) -> None:
    """Its row was lost with the process that ended it: the place that it had is given on."""
    line = under(ONE_A_SECOND)
    line.asks("a")
    line.asks("dead", since=NOW + 1)
    assert line.asks("b", since=NOW + 2) == Hold(Held.RATE, NOW + 2 * SECOND)
    assert line.asks("b", NOW + 2 * SECOND, since=NOW + 2) is None, "its own slot"
    for name in ("urgent", "urgent and dead"):
        line.asks(name, NOW + 2 * SECOND, urgency=Urgency.CRITICAL)
    assert line.asks("c", NOW + 4 * SECOND) == Hold(Held.RATE, NOW + 5 * SECOND)
    assert line.asks("c", NOW + 14 * SECOND) is None


def test_what_waited_under_an_earlier_rate_is_forgotten_when_there_was_none(under: Under) -> None:
    line = under(ONE_A_SECOND)
    for name in ("a", "b", "c"):
        line.asks(name)
    caps_only = under(Limits(number_caps=parse_caps("9/1m")))
    assert caps_only.asks("b") is None
    again = under(ONE_A_SECOND)
    assert again.asks("d", NOW + MINUTE) is None


def test_a_call_that_was_told_to_go_is_told_so_again_and_counts_once(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("1/1m")))
    assert line.asks("a", to=ADA) is None
    assert line.asks("a", NOW + 5, to=ADA) is None
    assert line.asks("b", NOW + 5, to=ADA) == Hold(Held.NUMBER, NOW + MINUTE)


def test_a_number_is_rung_as_often_as_its_caps_allow(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("1/1m 3/15m")))
    for number in range(3):
        assert line.asks(f"c{number}", NOW + number * MINUTE, to=ADA) is None
    assert line.asks("c3", NOW + 3 * MINUTE, to=ADA) == Hold(Held.NUMBER, NOW + 15 * MINUTE)
    assert line.asks("other", NOW + 3 * MINUTE, to=BEN) is None
    assert line.asks("c3", NOW + 15 * MINUTE, to=ADA) is None


def test_a_call_that_did_not_begin_is_counted_nowhere(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("1/1m"), calls_a_day=10, money_a_day=1, price_a_minute=0.1))
    for number in range(50):
        assert line.asks(f"c{number}", to=ADA) is None
        line.pacer.did_not_begin(call(f"c{number}", ADA))
        line.pacer.did_not_begin(call(f"c{number}", ADA))


def test_a_call_that_did_not_begin_is_taken_off_the_day_that_counted_it(under: Under, store: Store) -> None:
    before_midnight, day = (NOW // DAY + 1) * DAY - 1, Limits(calls_a_day=10)
    line = under(day)
    assert line.asks("one", before_midnight) is None and line.asks("two", before_midnight + 2) is None
    line.pacer.did_not_begin(call("one"))
    client, dates = store.connections.commands, ("2027-01-15", "2027-01-16")
    assert [client.hget(store.keys.day(date), "n") for date in dates] == ["0", "1"]


def test_caps_do_not_hold_what_is_critical(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("1/1m")))
    assert line.asks("a", to=ADA) is None
    assert line.asks("b", to=ADA, urgency=Urgency.CRITICAL) is None


def test_the_last_tenth_of_a_days_calls_is_kept_for_what_is_critical(under: Under) -> None:
    line = under(Limits(calls_a_day=10))
    assert [line.asks(f"c{number}") for number in range(9)] == [None] * 9
    midnight = (NOW // DAY + 1) * DAY
    assert line.asks("more") == Hold(Held.DAY, midnight)
    assert line.asks("urgent", urgency=Urgency.CRITICAL) is None
    assert line.asks("urgent too", urgency=Urgency.CRITICAL) == Hold(Held.DAY, midnight)
    assert line.asks("more", midnight) is None, "a day later"


def test_a_ceiling_in_money_counts_minutes_that_were_talked(under: Under) -> None:
    line = under(Limits(money_a_day=1.0, price_a_minute=0.1))
    assert line.asks("a") is None
    line.pacer.lasted(8, NOW)
    assert line.asks("b") is None
    held = line.asks("c")
    assert held is not None and held.why is Held.DAY
    assert line.asks("d", urgency=Urgency.CRITICAL) is None


def test_a_ceiling_of_less_than_a_cent_is_one(under: Under) -> None:
    held = under(Limits(money_a_day=0.004, price_a_minute=0.014)).asks("a")
    assert held is not None and held.why is Held.DAY


@pytest.mark.parametrize("ahead", [10 * SECOND, HOUR, 30 * DAY])
@pytest.mark.parametrize(
    "limits", [ONE_A_SECOND, Limits(number_caps=parse_caps("1/1m"))], ids=["rate", "cap"]
)
def test_a_clock_that_was_set_back_stops_no_calls(under: Under, ahead: int, limits: Limits) -> None:
    line = under(limits)
    line.asks("a", NOW + ahead, to=ADA)
    held = line.asks("b", NOW, to=ADA)
    assert held is None or held.until <= NOW + MINUTE


def test_an_agent_that_used_up_its_share_waits_and_holds_up_nobody_else(under: Under) -> None:
    line = under(Limits(calls_per_second=1, number_caps=parse_caps("4/10m")))
    greedy = [line.asks(f"g{n}", NOW + n * SECOND, to=ADA, key="ak_2", share=50) for n in range(3)]
    assert greedy == [None, None, Hold(Held.SHARE, NOW + 10 * MINUTE)]
    assert line.asks("modest", NOW + 2 * SECOND, to=ADA) is None, "and at once: no slot was used up"
    assert line.asks("g3", NOW + 3 * SECOND, to=BEN, key="ak_2", share=50) is None, "another number"
    urgent = line.asks("g4", NOW + 4 * SECOND, to=ADA, key="ak_2", share=50, urgency=Urgency.CRITICAL)
    assert urgent is None
    assert line.asks("g2", NOW + 10 * MINUTE + SECOND, to=ADA, key="ak_2", share=50) is None


def test_the_smallest_share_is_one_call_in_each_window(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("3/1m 10/1h")))
    assert line.asks("a", to=ADA, share=1) is None
    assert line.asks("b", to=ADA, share=1) == Hold(Held.SHARE, NOW + HOUR)


def test_a_number_that_nobody_may_call_is_held_as_that(under: Under) -> None:
    """Whoever reads why it waits is told what has to end first: here it is not the share."""
    line = under(Limits(number_caps=parse_caps("2/1m")))
    assert line.asks("a", to=ADA, key="ak_2", share=50) is None
    assert line.asks("b", NOW + 5 * SECOND, to=ADA) is None
    assert line.asks("c", NOW + 6 * SECOND, to=ADA) == Hold(Held.NUMBER, NOW + MINUTE)


def test_a_call_that_did_not_begin_is_none_of_the_share(under: Under) -> None:
    line = under(Limits(number_caps=parse_caps("4/10m")))
    for number in range(9):
        assert line.asks(f"c{number}", to=ADA, share=25) is None
        line.pacer.did_not_begin(call(f"c{number}", ADA))


def test_texts_are_counted_by_their_number_and_apart_from_calls(under: Under, store: Store) -> None:
    line = under(Limits(number_caps=parse_caps("1/1m"), text_caps=parse_caps("2/1h"), calls_a_day=1))
    texts = line.pacer
    assert texts.hold_text("at_1", ADA, Urgency.NORMAL, NOW) is None
    assert texts.hold_text("at_1", ADA, Urgency.NORMAL, NOW + 1) is None, "once, however often it is asked"
    assert texts.hold_text("at_2", ADA, Urgency.NORMAL, NOW) is None
    assert texts.hold_text("at_3", ADA, Urgency.NORMAL, NOW) == Hold(Held.TEXTS, NOW + HOUR)
    assert texts.hold_text("at_3", BEN, Urgency.NORMAL, NOW) is None
    assert texts.hold_text("at_4", ADA, Urgency.CRITICAL, NOW) is None
    assert line.asks("a", to=ADA, urgency=Urgency.CRITICAL) is None, "a text is no call of the day"
    kept = [key for key in store.connections.commands.scan_iter("*texted*") if store.keys.prefix in str(key)]
    assert len(kept) == 2 and not any("555" in str(key) for key in kept)


def test_a_text_wakes_no_call_that_waits(under: Under) -> None:
    line = under(Limits(calls_per_second=0.1, text_caps=parse_caps("9/1m")))
    assert line.asks("one") is None
    held = line.asks("two")
    assert held is not None
    line.row("two", held.until)
    assert line.pacer.hold_text("at_1", ADA, Urgency.NORMAL, NOW) is None
    assert line.due("two") == held.until


def test_a_text_that_was_not_sent_is_counted_nowhere(under: Under) -> None:
    texts = under(Limits(text_caps=parse_caps("1/1d"))).pacer
    assert texts.hold_text("at_1", ADA, Urgency.NORMAL, NOW) is None
    texts.was_not_sent("at_1", ADA)
    assert texts.hold_text("at_2", ADA, Urgency.NORMAL, NOW) is None


def test_a_window_of_more_than_a_week_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than 7d"):
        parse_caps("100/8d")


@pytest.mark.parametrize("text", ["1", "1/m", "0/1m", "1/0m", "1/1w", "x", "1/1m;2/1h"])
def test_caps_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be like"):
        parse_caps(text)


def test_caps_read_as_they_are_written() -> None:
    read = [(cap.count, cap.window_ms) for cap in parse_caps("2/30s 7/1h 30/1d")]
    assert read == [(2, 30 * SECOND), (7, HOUR), (30, DAY)]
    assert parse_caps("none") == ()
