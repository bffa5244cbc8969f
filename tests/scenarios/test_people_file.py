"""The people file at work: edited while the service runs, shared by machines, broken by a hand at night."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from handoff import bootstrap, config, pins
from handoff.config import BadSettings
from handoff.models import EventType
from tests.world import REASON, MakeWorld, World

ADA = '[contacts.ada]\nname = "Ada"\nnumbers = ["+12125550123"]\n'
BEN = '[contacts.ben]\nname = "Ben"\nnumbers = ["+12125550124"]\n'
CY = '[contacts.cy]\nname = "Cy"\nnumbers = ["+12125550125"]\n'
ONLY_BEN = '[[policies.default.steps]]\ncontacts = ["ben"]\n'

Write = Callable[[str], None]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.toml"
    path.write_text(ADA + BEN)
    return path


@pytest.fixture
def world(make_world: MakeWorld, file: Path) -> World:
    """As their people file says."""
    return make_world(
        HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="", HANDOFF_ROUNDS=""
    )


def edit(world: World, file: Path, text: str, passes_s: float = 2) -> None:
    """The file is written anew, and the service has had the time to see it."""
    written_before = file.stat().st_mtime_ns
    file.write_text(text)
    os.utime(file, ns=(written_before + 1, written_before + 1))
    world.advance(passes_s)


def ready(world: World) -> dict[str, object]:
    world.settle()
    answer = httpx2.get(f"{world.url}/readyz")
    people: dict[str, object] = answer.json()["people"]
    return people


def test_who_is_rung_is_what_the_file_says(world: World) -> None:
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    assert ready(world)["contacts"] == 2


def test_an_edit_counts_for_the_next_handoff_without_a_restart(world: World, file: Path) -> None:
    before = ready(world)["version"]
    edit(world, file, ADA + BEN + ONLY_BEN)
    assert ready(world)["version"] != before
    world.open()
    world.reached(world.ben).press("1").hears("Thank you")


def test_who_was_written_in_a_moment_ago_is_nobody_who_was_taken_out(world: World, file: Path) -> None:
    """Each process looks at most once a second, and no time passes here: only one has heard of Cy."""
    other = world.start_web()
    for services in (world.services, other.services):
        services.handoffs.rules()
    edit(world, file, ADA + BEN + CY, passes_s=0)
    asked = {"kind": "clear", "reason": REASON, "contact": "cy", "on_exhausted": "fail"}
    assert world.http.post(f"{other.url}/v1/handoffs", json=asked).status_code == 201
    world.reached(world.cy).press("1").hears("Thank you")


def test_an_edit_in_the_middle_of_a_ladder_counts_for_its_next_step(world: World, file: Path) -> None:
    world.open()
    ringing = world.ada.let_ring()
    world.ada.expect_text()
    edit(
        world,
        file,
        ADA + BEN + CY + '[[policies.default.steps]]\ncontacts = ["ada", "cy"]\nring = "in turn"\n',
    )
    ringing.decline()
    world.reached(world.cy).press("1").hears("Thank you")


def test_a_broken_edit_keeps_the_last_good_one_and_says_so(
    world: World, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = ready(world)
    edit(world, file, ADA.replace("numbers", "number"))
    assert ready(world) == good | {"broken_files": 1}
    assert "line 3, contacts.ada.number: is not a key of this file" in caplog.text
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    edit(world, file, ADA)
    assert ready(world)["broken_files"] == 0 and ready(world)["contacts"] == 1


def test_a_file_that_was_deleted_changes_nobody(world: World, file: Path) -> None:
    ready(world)
    file.unlink()
    world.advance(2)
    assert ready(world)["broken_files"] == 1
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")


def test_a_machine_whose_copy_is_older_takes_the_newer_one(world: World, file: Path, tmp_path: Path) -> None:
    edit(world, file, ADA + BEN + ONLY_BEN)
    ready(world)
    old = tmp_path / "old.toml"
    old.write_text(ADA)
    os.utime(old, (1_000_000_000, 1_000_000_000))
    second = world.start_web(HANDOFF_PEOPLE=str(old))
    assert [one.id for one in second.services.handoffs.rules().people.default.steps[0].contacts] == ["ben"]
    assert ready(world)["contacts"] == 2


def test_a_copy_that_is_not_in_use_is_counted_until_it_is_saved_again(
    world: World, file: Path, tmp_path: Path
) -> None:
    edit(world, file, ADA + BEN + ONLY_BEN)
    used = ready(world)
    old = tmp_path / "old.toml"
    old.write_text(ADA)
    os.utime(old, (1_000_000_000, 1_000_000_000))
    second = world.start_web(HANDOFF_PEOPLE=str(old))
    assert len(second.services.handoffs.rules().people.contacts) == 2
    assert ready(world) == used | {"broken_files": 1}
    edit(world, old, ADA + CY)
    world.advance(2)
    assert [one.id for one in second.services.handoffs.rules().people.contacts] == ["ada", "ben"], "not later"
    os.utime(old)
    world.now = time.time_ns() // 1_000_000 + 2_000
    assert [one.id for one in second.services.handoffs.rules().people.contacts] == ["ada", "cy"]
    # Now it is the other copy that is not in use.
    world.now += 2_000
    assert ready(world)["broken_files"] == 1


def test_a_file_with_numbers_where_none_belong_tells_them_to_nobody(
    world: World, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ready(world)
    edit(
        world,
        file,
        ADA + '[[policies.default.steps]]\ncontacts = ["212-555-0199"]\n[contacts."+12125550199"]\n',
    )
    assert ready(world)["broken_files"] == 1
    kept = world.redis.hgetall(world.services.store.keys.people_problems)
    told = f"{caplog.text} {kept}"
    assert "…0199" in told and "5550199" not in told and "555-0199" not in told


def test_a_new_pin_ends_what_the_old_one_opened_and_other_edits_do_not(world: World, file: Path) -> None:
    old, new = pins.kept("482913"), pins.kept("719204")
    edit(world, file, ADA + f'pin = "{old}"\n' + BEN)
    page = f"{world.url}/p/{world.open(notify='none')['id']}"
    with httpx2.Client(trust_env=False) as browser:
        [nonce] = re.findall(r'name="nonce" value="([^"]+)"', browser.get(page).text)
        given = {"name": "Ada", "pin": "482913", "nonce": nonce}
        assert browser.post(page, data=given).status_code == 303
        assert REASON in browser.get(page).text
        edit(world, file, CY + ADA + f'pin = "{old}"\n' + BEN)
        assert REASON in browser.get(page).text
        edit(world, file, ADA + f'pin = "{new}"\n' + BEN)
        asked = browser.get(page).text
        assert REASON not in asked and "Your PIN" in asked


def test_a_machine_without_the_file_starts_with_what_is_shared(world: World, tmp_path: Path) -> None:
    ready(world)
    second = world.start_web(HANDOFF_PEOPLE=str(tmp_path / "nowhere.toml"))
    assert len(second.services.handoffs.rules().people.contacts) == 2


def test_a_first_start_with_a_broken_file_is_refused_naming_line_and_key(
    world: World, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(ADA.replace("+", ""))
    for name, value in (world.settings | {"HANDOFF_PREFIX": f"{world.prefix}-new"}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        BadSettings, match=r"HANDOFF_PEOPLE: people\.toml, line 3, contacts\.ada\.numbers\[1\]"
    ):
        bootstrap.from_environment()


def test_people_are_named_in_one_place_only(world: World) -> None:
    with pytest.raises(BadSettings, match="HANDOFF_TO_NUMBER: is in the people file"):
        config.from_environment(world.settings | {"HANDOFF_TO_NUMBER": "Ada=+12125550123"})


def test_a_request_names_a_policy_or_a_contact_and_never_a_number(world: World, file: Path) -> None:
    edit(world, file, ADA + BEN + '[[policies.night.steps]]\ncontacts = ["ben"]\n')
    assert world.open(policy="night")["policy"] == "night"
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.open(contact="ada")["contact"] == "ada"
    world.reached(world.ada).press("1").hears("Thank you")
    for wrong in ({"policy": "day"}, {"contact": "+12125550199"}, {"policy": "night", "contact": "ada"}):
        refused = world.post_opening(**wrong)
        assert refused.status_code == 422, wrong
        assert refused.json()["errors"][0]["field"] in wrong


def test_a_rule_for_metadata_chooses_the_policy(world: World, file: Path) -> None:
    night = (
        '[[policies.night.steps]]\ncontacts = ["ben"]\n[[routes]]\nwhen = {team = "ops"}\npolicy = "night"\n'
    )
    edit(world, file, ADA + BEN + night)
    world.open(metadata={"team": "ops", "order": 1009})
    world.reached(world.ben).press("1").hears("Thank you")
    world.open(metadata={"team": "shop"})
    world.reached(world.ada).press("1").hears("Thank you")


def test_a_second_number_is_rung_before_the_next_person(world: World, file: Path) -> None:
    edit(world, file, ADA.replace('"]', '", "+12125550125"]') + BEN)
    handoff = world.open()
    world.ada.let_ring().decline()
    world.ada.expect_text()
    world.cy.expect_call("Handoff for").press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "no_answer"), ("ada", "resolved")]


def test_the_next_person_is_rung_when_the_wait_is_over_and_not_before(world: World, file: Path) -> None:
    edit(world, file, ADA + BEN + '[[policies.default.steps]]\ncontacts = ["ada", "ben"]\nring = "in turn"\n')
    slow = '[[policies.default.steps]]\ncontacts = ["ada"]\nwait_s = 60\n' + ONLY_BEN
    edit(world, file, ADA + BEN + slow)
    world.open()
    world.ada.let_ring().decline()
    world.ada.expect_text()
    world.advance(50)
    assert len(world.creates()) == 1
    world.advance(12)
    world.reached(world.ben).press("1").hears("Thank you")


def test_whoever_sleeps_is_texted_and_rung_only_for_what_is_critical(world: World, file: Path) -> None:
    edit(world, file, ADA + 'quiet_hours = ["00:00-12:00", "12:00-00:00"]\n' + BEN)
    handoff = world.open()
    world.ada.expect_text()
    world.advance(30)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ben", "resolved")]
    step = next(one for one in world.events(handoff) if one.type is EventType.STEP_STARTED)
    assert list(step.data["quiet"]) == ["ada"]
    world.open(urgency="critical")
    world.reached(world.ada).press("1").hears("Thank you")


def test_the_voice_says_the_word_that_they_agreed_on_and_speaks_as_they_do(world: World, file: Path) -> None:
    edit(world, file, ADA + 'caller_word = "blue kettle"\nlanguage = "en-GB"\n' + BEN)
    world.open()
    call = world.reached(world.ada, "blue kettle. Handoff for")
    call.press("1").hears("Thank you")


def test_what_the_environment_says_stays_valid(make_world: MakeWorld) -> None:
    world = make_world()
    assert ready(world) == {"version": None, "contacts": 3, "broken_files": 0}
