"""Quiet hours by the wall clock of where somebody lives, through the nights in which the clock is changed."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from handoff.quiet import parse_hours, parse_zone, quiet_until

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"


def at(wall: str, zone: str, fold: int = 0) -> int:
    return int(datetime.fromisoformat(wall).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)


def until(spans: str, zone: str, now: int) -> str | None:
    """When it is over, as the clock on the wall there says."""
    found = quiet_until([parse_hours(one) for one in spans.split(",")], zone, now)
    if found is None:
        return None
    return datetime.fromtimestamp(found / 1000, ZoneInfo(zone)).isoformat(timespec="minutes")


@pytest.mark.parametrize(
    ("wall", "over"),
    [
        ("2026-06-01T21:59", None),
        ("2026-06-01T22:00", "2026-06-02T07:00+02:00"),
        ("2026-06-02T00:00", "2026-06-02T07:00+02:00"),
        ("2026-06-02T06:59", "2026-06-02T07:00+02:00"),
        ("2026-06-02T07:00", None),
        ("2026-06-02T12:00", None),
    ],
)
def test_a_night_begins_in_the_evening_and_ends_in_the_morning(wall: str, over: str | None) -> None:
    assert until("22:00-07:00", BERLIN, at(wall, BERLIN)) == over


@pytest.mark.parametrize(
    ("night", "over"),
    [
        ("2026-03-28T23:00", "2026-03-29T07:00+02:00"),
        ("2026-10-24T23:00", "2026-10-25T07:00+01:00"),
    ],
    ids=["an hour is missing", "an hour comes twice"],
)
def test_the_morning_is_seven_on_the_wall_whatever_the_night_was(night: str, over: str) -> None:
    assert until("22:00-07:00", BERLIN, at(night, BERLIN)) == over


def test_quiet_that_would_end_in_the_missing_hour_ends_when_the_clock_is_put_forward() -> None:
    assert until("01:00-02:30", BERLIN, at("2026-03-29T01:30", BERLIN)) == "2026-03-29T03:00+02:00"
    assert until("01:00-02:30", BERLIN, at("2026-03-29T03:00", BERLIN)) is None


def test_quiet_that_would_begin_in_the_missing_hour_begins_when_the_clock_is_put_forward() -> None:
    assert until("02:30-04:00", NEW_YORK, at("2026-03-08T03:00", NEW_YORK)) == "2026-03-08T04:00-04:00"
    assert until("02:30-04:00", NEW_YORK, at("2026-03-08T01:59", NEW_YORK)) is None


def test_an_hour_that_comes_twice_is_quiet_both_times() -> None:
    first, second = (at("2026-10-25T02:10", BERLIN, fold) for fold in (0, 1))
    assert first != second
    assert until("01:00-02:30", BERLIN, first) == "2026-10-25T02:30+01:00"
    assert until("01:00-02:30", BERLIN, second) == "2026-10-25T02:30+01:00"


#: In the night of this day in New York, 1:00 to 2:00 comes twice: at -04:00, then at -05:00.
@pytest.mark.parametrize(
    ("spans", "quiet"),
    [
        ("01:15-01:45", ["01:15-04:00 01:45-04:00", "01:15-05:00 01:45-05:00"]),
        ("01:15-02:00", ["01:15-04:00 01:00-05:00", "01:15-05:00 02:00-05:00"]),
        ("01:00-01:15", ["01:00-04:00 01:15-04:00", "01:00-05:00 01:15-05:00"]),
        ("01:00-02:00", ["01:00-04:00 02:00-05:00"]),
        ("00:30-01:00", ["00:30-04:00 01:00-04:00"]),
        ("00:30-01:30", ["00:30-04:00 01:30-05:00"]),
        ("01:30-02:30", ["01:30-04:00 02:30-05:00"]),
        ("01:45-02:05", ["01:45-04:00 02:05-05:00"]),
        ("00:30-02:30", ["00:30-04:00 02:30-05:00"]),
        ("02:00-02:30", ["02:00-05:00 02:30-05:00"]),
        ("01:15-01:30,01:30-01:45", ["01:15-04:00 01:45-04:00", "01:15-05:00 01:45-05:00"]),
    ],
)
def test_the_night_in_which_an_hour_comes_twice(spans: str, quiet: list[str]) -> None:
    midnight, minute, found = at("2026-11-01T00:00", NEW_YORK), 60_000, []
    moment = midnight
    while moment < midnight + 240 * minute:
        over = until(spans, NEW_YORK, moment)
        if over is not None:
            begun = datetime.fromtimestamp(moment / 1000, ZoneInfo(NEW_YORK)).isoformat(timespec="minutes")
            found.append(f"{begun[11:]} {over[11:]}")
            moment = int(datetime.fromisoformat(over).timestamp() * 1000) - minute
            assert until(spans, NEW_YORK, moment) == over, "quiet to its last minute"
        moment += minute
    assert found == quiet


def test_an_hour_that_comes_twice_before_midnight() -> None:
    """There the clock is put back from midnight to eleven."""
    first, second = (at("2026-10-24T23:20", "Asia/Beirut", fold) for fold in (0, 1))
    assert until("23:15-23:45", "Asia/Beirut", first) == "2026-10-24T23:45+03:00"
    assert until("23:15-23:45", "Asia/Beirut", second) == "2026-10-24T23:45+02:00"
    assert until("23:15-00:00", "Asia/Beirut", first) == "2026-10-24T23:00+02:00"
    assert until("22:00-07:00", "Asia/Beirut", first) == "2026-10-25T07:00+02:00"


def test_a_zone_that_changes_by_half_an_hour() -> None:
    assert until("01:00-02:15", LORD_HOWE, at("2026-10-04T01:30", LORD_HOWE)) == "2026-10-04T02:30+11:00"


def test_spans_that_touch_are_one() -> None:
    assert (
        until("20:00-00:00,00:00-06:00", BERLIN, at("2026-06-01T21:00", BERLIN)) == "2026-06-02T06:00+02:00"
    )


def test_whose_whole_day_is_quiet_is_never_rung_and_it_ends() -> None:
    assert until("00:00-12:00,12:00-00:00", BERLIN, at("2026-06-01T21:00", BERLIN)) is not None


@pytest.mark.parametrize("text", ["22-7", "22:00", "24:00-07:00", "22:60-07:00", "22:00-22:00", "abc", ""])
def test_hours_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be like|begins when it ends"):
        parse_hours(text)


@pytest.mark.parametrize("text", ["Berlin", "", "../../etc/passwd", "/etc/localtime", "Europe/Nowhere"])
def test_a_zone_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time zone"):
        parse_zone(text)
