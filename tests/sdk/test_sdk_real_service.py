"""The SDK against the whole real service, a phone and a page: every way in which a question can end.

What a reply means, piece by piece, is in the other modules here; killing processes is in tests/chaos/.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import human
from tests.chaos.system import PATIENCE_S, WOKEN_S, System
from tests.world.waits import until

pytestmark = pytest.mark.timeout(120)

SDK = Path(__file__).parents[2] / "sdk"


@pytest.fixture(scope="module")
def running_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    if sys.platform != "linux":
        pytest.skip("looks for processes in /proc")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        system = System(tmp_path_factory.mktemp("service") / "data")
        yield system
        system.stop()


@pytest.fixture
def system(running_system: System) -> Iterator[System]:
    """The service at rest, before and after."""
    running_system.begins()
    yield running_system
    running_system.ends_well()


def test_clear_wall_returns_when_a_key_was_pressed_and_says_who_when_and_how(system: System) -> None:
    waiting = system.agent().clear_wall("A human-verification checkbox is blocking checkout")
    system.ada.expect_text("checkbox")
    system.ada.expect_call("Handoff for dev").press("1").hears("Thank you").hang_up()
    cleared = waiting.result(WOKEN_S)
    assert cleared
    assert (cleared.by.kind, cleared.by.name) == ("contact", "Ada")
    assert (cleared.channel, cleared.proof, cleared.close_reason) == ("call", "keypress", "person")
    assert abs(cleared.at - datetime.now(UTC)) < timedelta(seconds=PATIENCE_S)
    assert cleared.handoff_id == system.newest()


def test_ask_returns_the_bare_words_that_were_written_on_the_page(system: System) -> None:
    waiting = system.agent().ask("Which address should I ship to?")
    page = system.page(system.ada.expect_text("Which address"))
    call = system.ada.let_ring()
    page.press("Send the answer", answer="  Blå gata 1\n0150 Oslo 🏔  ")
    assert waiting.result(WOKEN_S).splitlines() == ["Blå gata 1", "0150 Oslo 🏔"]
    call.ended("canceled")


def test_a_no_with_its_reason_is_declined(system: System) -> None:
    waiting = system.agent().clear_wall("A bank asks for a card reader")
    page = system.page(system.ada.expect_text("card reader"))
    system.ada.let_ring()
    page.press("Tell dev that it can’t be done", comment="The reader is at home")
    with pytest.raises(human.Declined, match="The reader is at home") as no:
        waiting.result(WOKEN_S)
    assert no.value.by is not None
    assert (no.value.by.name, no.value.comment) == ("Ada", "The reader is at home")


@pytest.mark.parametrize("who", ["agent", "operator"])
def test_withdrawn_is_cancelled_and_the_phone_stops_ringing(system: System, who: str) -> None:
    waiting = system.agent().ask("Is anybody there?")
    system.ada.expect_text()
    call = system.ada.let_ring()
    withdraws = system.as_agent if who == "agent" else system.http
    assert withdraws.post(f"/v1/handoffs/{system.newest()}/cancellation").status_code == 200
    with pytest.raises(human.Cancelled) as cancelled:
        waiting.result(WOKEN_S)
    assert cancelled.value.close_reason == who
    call.ended("canceled")


def test_silence_until_the_deadline_is_nobody_answered(system: System) -> None:
    waiting = system.agent().clear_wall("A very short patience", timeout_s=1)
    call = system.ada.let_ring()
    with pytest.raises(human.NobodyAnswered) as silence:
        waiting.result(WOKEN_S)
    assert not isinstance(silence.value, human.Unreachable)
    assert {attempt.contact for attempt in silence.value.attempts} == {"ada"}
    call.ended("canceled")
    system.expect_all_texts()  # it may have gone out before the second was over


def test_nobody_reached_at_all_is_unreachable_with_what_each_attempt_told(system: System) -> None:
    system.ada.behaves("busy")
    system.ben.behaves("unreachable")
    waiting = system.agent().clear_wall("A wall", on_exhausted="fail")
    with pytest.raises(human.Unreachable) as nobody:
        waiting.result(WOKEN_S)
    told = [one.disposition for one in nobody.value.attempts if one.channel == "call"]
    assert told == ["busy", "unreachable"]
    system.ada.missed_call("busy")
    system.ben.missed_call("failed")
    system.expect_all_texts()


def test_the_same_key_is_the_same_question_before_and_after_its_answer(system: System) -> None:
    first, second = system.agent(), system.agent()
    asked = [one.ask("Which size?", key="size-of-order-7") for one in (first, second)]
    page = system.page(system.ada.expect_text("Which size?"))
    call = system.ada.let_ring()
    page.press("Send the answer", answer="Large")
    assert [one.result(WOKEN_S) for one in asked] == ["Large", "Large"]
    call.ended("canceled")

    assert system.agent().ask("Which size?", key="size-of-order-7").result(WOKEN_S) == "Large"
    assert (len(system.creates()), len(system.creates("Messages"))) == (1, 1)
    with pytest.raises(human.InvalidRequest, match="size-of-order-7") as conflict:
        first.client.ask("Which colour?", key="size-of-order-7")
    assert conflict.value.code == "idempotency_conflict"


def test_a_wrong_key_is_refused_and_the_variable_that_holds_it_is_named(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDOFF_URL", system.url)
    monkeypatch.setenv("HANDOFF_API_KEY", "hk_of-another-server")
    with human.Client() as client, pytest.raises(human.InvalidRequest, match="HANDOFF_API_KEY") as refused:
        client.ask("Does anybody know me?")
    assert refused.value.status == 401
    assert "hk_of-another-server" not in str(refused.value)


def test_what_the_service_refuses_names_the_field(system: System) -> None:
    with pytest.raises(human.InvalidRequest, match="timeout_s") as refused:
        system.agent().client.ask("How long?", timeout_s=0.5)
    assert (refused.value.status, [error.field for error in refused.value.errors]) == (422, ["timeout_s"])


FROM_THE_WHEEL = """
import human
cleared = human.clear_wall("A checkbox from a wheel")
print(human.__file__, cleared.by, cleared.proof)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_built_wheel_alone_in_an_empty_environment_gets_an_answer(system: System, tmp_path: Path) -> None:
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    built = [sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(SDK)]
    subprocess.run(built, check=True, timeout=300)
    (wheel,) = tmp_path.glob("human_sdk-*.whl")
    venv.create(tmp_path / "agent", with_pip=True)
    python = tmp_path / "agent" / "bin" / "python"
    subprocess.run([python, *pip, "install", wheel], check=True, timeout=300)

    agent = subprocess.Popen(
        [python, "-I", "-c", FROM_THE_WHEEL],  # -I: nothing of this repository is found by way of PYTHONPATH
        env={**os.environ, "HANDOFF_URL": system.url, "HANDOFF_API_KEY": system.api_key},
        stdout=subprocess.PIPE,
        text=True,
    )
    system.ada.expect_text()
    system.ada.expect_call("Handoff for dev").press("1").hears("Thank you").hang_up()
    said, _ = agent.communicate(timeout=WOKEN_S)
    where, who, proof = said.split()
    assert Path(where).is_relative_to(tmp_path / "agent")
    assert (who, proof) == ("Ada", "keypress")


def test_without_telephony_nobody_is_rung_and_the_agent_gets_the_address_of_a_page(system: System) -> None:
    pages: list[str] = []
    waiting = system.agent().ask("Which plan?", notify="none", on_page=pages.append)
    until(lambda: pages, PATIENCE_S, "the page's address")
    assert pages == [f"{system.url}/p/{system.newest()}"]
    settled = system.http.post(f"/v1/handoffs/{system.newest()}/resolution", json={"answer": "the small one"})
    assert settled.status_code == 200
    assert waiting.result(WOKEN_S) == "the small one"
