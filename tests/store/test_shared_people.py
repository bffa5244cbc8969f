"""The people file on several machines and in several processes: the newest edit counts, and nothing is lost
without a word."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import redis

from handoff.moments import DAY, HOUR, MINUTE
from handoff.people_file import BadPeople, version_of
from handoff.policy import People
from handoff.store import SharedText, Store

from .machines import ADA, BEN, BROKEN, CY, NOW, Machines


@pytest.fixture
def machines(store: Store, tmp_path: Path) -> Machines:
    """Machines `a` and `b`, each with a copy that names Ada, written a while ago."""
    made = Machines(store, tmp_path)
    for machine in "ab":
        made.edit(machine, ADA, dated=NOW - HOUR)
    return made


def test_a_process_that_looks_late_does_not_bring_an_older_edit_back(machines: Machines) -> None:
    web_a, idle_a, web_b = (machines.process(machine) for machine in "aab")
    assert machines.everywhere() == {"ada"}
    machines.edit("a", BEN)
    assert machines.reaches(web_a) == machines.reaches(web_b) == "ben"
    machines.now += HOUR
    machines.edit("b", CY)
    assert machines.reaches(web_b) == machines.reaches(web_a) == "cy"
    assert machines.reaches(idle_a) == "cy"
    assert machines.everywhere() == {"cy"}


@pytest.mark.parametrize("ahead", [-HOUR, HOUR], ids=["", "after a stamp of a clock that is ahead"])
def test_nor_when_the_newer_edit_was_taking_the_other_one_back(machines: Machines, ahead: int) -> None:
    """What is shared is then the text that the late one knew as its own, and yet another publication."""
    machines.shared.publish(SharedText(ADA, version_of(ADA), NOW + ahead))
    web_a, idle_a, web_b = (machines.process(machine) for machine in "aab")
    assert machines.everywhere() == {"ada"}
    machines.edit("a", BEN)
    assert machines.reaches(web_a) == "ben"
    machines.edit("b", BEN)
    assert machines.reaches(web_b) == "ben"
    machines.edit("b", ADA)
    assert machines.reaches(web_b) == "ada"
    assert machines.reaches(idle_a) == "ada" and machines.everywhere() == {"ada"}


def test_a_copy_that_comes_late_with_its_date_does_not_undo_a_newer_edit(machines: Machines) -> None:
    web_a, web_b = machines.process("a"), machines.process("b")
    machines.everywhere()
    machines.edit("a", BEN)
    first = machines.now
    machines.edit("a", CY)
    assert machines.reaches(web_a) == machines.reaches(web_b) == "cy"
    machines.edit("b", BEN, dated=first)
    assert machines.reaches(web_b) == "cy" and machines.everywhere() == {"cy"}


def test_a_restart_with_an_older_copy_changes_nobody_and_is_told(machines: Machines) -> None:
    web_a = machines.process("a")
    machines.edit("a", BEN)
    assert machines.reaches(web_a) == "ben"
    assert machines.reaches(machines.process("b")) == "ben"
    [told] = machines.problems("b")
    assert told.startswith("b.toml is not the one in use (version ")
    machines.edit("b", BEN)
    assert machines.everywhere() == {"ben"} and not machines.problems("b")


def test_an_older_file_that_is_put_back_with_its_date_counts(machines: Machines) -> None:
    process = machines.process("a")
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"
    shutil.copy2(machines.file("b"), machines.file("a"))
    assert machines.reaches(process) == "ada" and not machines.problems("a")
    machines.edit("b", CY)
    assert machines.reaches(machines.process("b")) == "cy" and machines.everywhere() == {"cy"}


def test_an_edit_that_an_older_file_took_back_does_not_return_with_a_machine_that_was_off(
    machines: Machines,
) -> None:
    process = machines.process("a")
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"
    machines.edit("b", CY)
    machines.now += MINUTE
    assert machines.reaches(process) == "ben"
    machines.edit("a", ADA, dated=NOW - HOUR)
    assert machines.reaches(process) == "ada"
    assert machines.reaches(machines.process("b")) == "ada"


def test_the_same_size_and_date_do_not_hide_an_edit(machines: Machines) -> None:
    process = machines.process("a")
    assert machines.reaches(process) == "ada"
    machines.edit("a", ADA.replace("0123", "0125"), dated=NOW - HOUR)
    machines.reaches(process)
    assert process.present().contacts[0].number == "+12125550125"


def test_an_older_file_that_mends_a_broken_one_counts(machines: Machines) -> None:
    process = machines.process("a")
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"
    machines.edit("a", BROKEN)
    assert machines.reaches(process) == "ben"
    assert machines.problems("a") == [
        "a.toml, line 1, contacts.ada.numbers: is missing",
        machines.problems("a")[1],
    ]
    shutil.copy2(machines.file("b"), machines.file("a"))
    assert machines.reaches(process) == "ada" and not machines.problems("a")


def test_a_date_in_the_future_does_not_keep_later_edits_out(machines: Machines) -> None:
    machines.edit("a", ADA, dated=NOW + 365 * DAY)
    process = machines.process("a")
    assert machines.reaches(process) == "ada" and machines.stamp() <= machines.now
    machines.edit("b", BEN, dated=NOW - HOUR)
    assert machines.reaches(machines.process("b")) == "ada"
    for text, person in ((BEN, "ben"), (CY, "cy")):
        machines.edit("a", text)
        assert machines.reaches(process) == person and machines.stamp() <= machines.now
    assert machines.reaches(machines.process("a")) == "cy" and not machines.problems("a")


def test_an_edit_dated_in_the_future_counts_and_brings_nothing_back_later(machines: Machines) -> None:
    web_a, idle_a, web_b = (machines.process(machine) for machine in "aab")
    machines.everywhere()
    machines.edit("a", BEN, dated=NOW + 10 * HOUR)
    assert machines.reaches(web_a) == "ben"
    machines.edit("b", CY)
    assert machines.reaches(web_b) == "cy"
    assert machines.reaches(idle_a) == "cy" and machines.reaches(web_a) == "cy"
    assert machines.reaches(machines.process("a")) == "cy", "not even after a restart"
    assert "not the one in use" in machines.problems("a")[0]


def test_a_stamp_from_the_far_future_is_healed(machines: Machines) -> None:
    """As an older version of the service, or a clock that was a year ahead, has left it."""
    machines.shared.publish(SharedText(CY, "of a wrong clock", NOW + 365 * DAY))
    process = machines.process("a")
    assert machines.reaches(process) == "cy" and machines.stamp() <= machines.now
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"
    machines.edit("b", ADA)
    assert machines.reaches(machines.process("b")) == "ada"


def test_a_clock_that_is_set_back_loses_no_edit(machines: Machines) -> None:
    web_a, web_b = machines.process("a"), machines.process("b")
    machines.edit("a", BEN)
    assert machines.everywhere() == {"ben"}
    machines.now -= 50 * MINUTE
    machines.edit("a", CY)
    assert machines.reaches(web_a) == "cy" and machines.reaches(web_b) == "cy"
    machines.edit("b", ADA)
    assert machines.reaches(web_b) == "ada", "although its file was never the one in use"
    assert machines.everywhere() == {"ada"}


def test_what_a_clock_that_was_ahead_has_dated_does_not_come_back_when_its_date_does(
    machines: Machines,
) -> None:
    machines.edit("b", ADA, dated=NOW + HOUR)
    machines.shared.publish(SharedText(ADA, version_of(ADA), NOW + HOUR))
    process = machines.process("a")
    assert machines.reaches(process) == "ada"
    machines.edit("a", CY)
    assert machines.reaches(process) == "cy"
    machines.now += 2 * HOUR
    assert machines.reaches(machines.process("b")) == "cy" and machines.everywhere() == {"cy"}


@pytest.mark.parametrize("fails", ["current", "publish", "put_problems"])
def test_an_edit_while_redis_is_away_is_shared_when_it_is_back(machines: Machines, fails: str) -> None:
    process, other = machines.process("a"), machines.process("b")
    assert machines.everywhere() == {"ada"}
    machines.edit("a", BEN)
    machines.edit("b", BROKEN)
    machines.shared.fails = {fails: 2}
    looking = other if fails == "put_problems" else process
    for _ in range(2):
        with pytest.raises(redis.RedisError):
            machines.reaches(looking)
    assert machines.reaches(process) == machines.reaches(other) == "ben"
    assert machines.problems("b") and not machines.problems("a")


@pytest.mark.parametrize("fails", ["current", "publish", "put_problems"])
def test_a_first_look_that_redis_did_not_answer_is_taken_again(machines: Machines, fails: str) -> None:
    process = machines.process("a")
    machines.shared.fails = {fails: 1}
    with pytest.raises(redis.RedisError):
        process.present()
    assert [one.id for one in process.present().contacts] == ["ada"]


def test_a_text_that_could_not_be_fetched_is_fetched_later(machines: Machines) -> None:
    process, other = machines.process("a"), machines.process("b")
    assert machines.everywhere() == {"ada"}
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"
    machines.shared.fails = {"read": 1}
    with pytest.raises(redis.RedisError):
        machines.reaches(other)
    assert machines.reaches(other) == "ben"


def test_a_redis_that_lost_everything_gets_the_newest_file_again(
    machines: Machines, raw: redis.Redis
) -> None:
    web_a, web_b = machines.process("a"), machines.process("b")
    machines.edit("a", BEN)
    assert machines.reaches(web_a) == machines.reaches(web_b) == "ben"
    raw.delete(machines.store.keys.people, machines.store.keys.people_problems)
    assert machines.reaches(web_b) in ("ada", "ben")
    assert machines.reaches(web_a) == "ben" and machines.everywhere() == {"ben"}


def test_problems_are_said_again_while_they_last_and_end_with_their_machine(machines: Machines) -> None:
    good, broken = machines.process("a"), machines.process("b")
    assert machines.reaches(good) == machines.reaches(broken) == "ada"
    machines.edit("b", BROKEN)
    for _ in range(30):
        machines.now += 5 * MINUTE
        assert machines.reaches(good) == machines.reaches(broken) == "ada"
        assert machines.problems("b")
    machines.now += 59 * MINUTE
    assert machines.problems("b")
    machines.now += 2 * MINUTE
    assert machines.reaches(good) == "ada" and not machines.problems("b")
    assert not machines.store.connections.commands.exists(machines.store.keys.people_problems)


def test_a_problem_ends_when_it_is_mended_whoever_said_it(machines: Machines) -> None:
    first, second = machines.process("a"), machines.process("a")
    machines.everywhere()
    machines.edit("a", BROKEN)
    machines.everywhere()
    assert machines.problems("a")
    machines.edit("a", BEN)
    assert machines.reaches(first) == "ben" and not machines.problems("a")
    assert machines.reaches(second) == "ben" and not machines.problems("a")


def test_a_problem_that_was_mended_while_nothing_ran_ends_with_the_first_look(machines: Machines) -> None:
    process = machines.process("a")
    assert machines.reaches(process) == "ada"
    machines.edit("a", BROKEN)
    assert machines.reaches(process) == "ada" and machines.problems("a")
    machines.edit("a", ADA)
    assert machines.problems("a")
    assert machines.reaches(machines.process("a")) == "ada" and not machines.problems("a")


def test_a_shared_version_that_can_not_be_used_here_is_told(machines: Machines) -> None:
    process = machines.process("a")
    assert machines.reaches(process) == "ada"
    machines.shared.publish(SharedText(BROKEN, "of a later release", machines.now))
    assert machines.reaches(process) == "ada"
    told = machines.problems("a")
    assert "version of a later release, which is shared, can't be used here:" in told
    assert told[-1] == "line 3, contacts.ada.number: is not a key of this file; is it misspelt?"


def test_without_any_good_version_it_is_said_why(machines: Machines) -> None:
    machines.edit("a", BROKEN)
    process = machines.process("a")
    for _ in range(2):
        with pytest.raises(BadPeople, match=r"a\.toml, line 1, contacts\.ada\.numbers: is missing"):
            process.present()
    machines.edit("a", BEN)
    assert machines.reaches(process) == "ben"


def test_what_is_asked_between_two_looks_asks_redis_nothing(machines: Machines) -> None:
    process = machines.process("a")
    found: People = process.present()
    machines.shared.fails = {"current": 1}
    assert process.present() is found
