"""`handoff dev --twilio`: a laptop rings real phones through a tunnel, and says before what it can't do."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.world import ADA, OURS, TOKEN, Agent, until

from .conftest import PATIENCE_S, Start, Twilio

pytestmark = pytest.mark.timeout(150)

WOKEN_S = 20.0


def test_a_phone_rings_the_link_opens_from_outside_and_a_key_lets_the_agent_go_on(
    start: Start,
    twilio: Twilio,
    account: dict[str, str],
    browser: httpx2.Client,
    agent_of: Callable[[dict[str, Any]], Agent],
) -> None:
    laptop = start("--json", **account)
    line = laptop.line()
    assert line["devphone_url"] is None
    assert line["url"].startswith("http://127.0.0.1:")
    assert set(line) == {"url", "api_key", "operator_key", "devphone_url", "redis_url", "pids"}
    assert set(line["pids"]) == {"web", "worker", "clock", "redis", "tunnel"}
    assert laptop.public_url().endswith(".trycloudflare.com")

    waiting = agent_of(line).clear_wall("A checkbox is blocking checkout")
    ada = twilio.phone.device(ADA)
    call, text = ada.let_ring(), ada.expect_text()
    assert text.links[0].startswith(f"{laptop.public_url()}/h/")
    assert browser.get(text.links[0]).status_code == 200
    assert "checkbox" in browser.get(text.links[0]).text
    call.answer().hears("checkbox").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"
    twilio.phone.nothing_else_happened()

    os.killpg(laptop.process.pid, signal.SIGINT)  # as a terminal does
    assert laptop.ends() == 0
    assert laptop.said().count("\n") == 1
    until(lambda: not laptop.left_running(), PATIENCE_S, "all of it to end")
    with pytest.raises(httpx2.HTTPError):
        browser.get(text.links[0])


@pytest.mark.slow
def test_what_twilio_will_not_do_is_said_before_anything_starts(
    start: Start, account: dict[str, str]
) -> None:
    laptop = start("--json", **account)
    laptop.line()
    notice, _, rest = laptop.complaints().partition("https://www.twilio.com/docs/voice/api")
    assert rest
    for words in ("trial account", "verified numbers", "any key", "30034", "30032", "docs/twilio.md"):
        assert words in notice
    assert TOKEN not in laptop.complaints()
    assert ADA not in laptop.complaints() and OURS not in laptop.complaints()


@pytest.mark.slow
def test_a_tunnel_that_dies_comes_back_under_another_name_and_the_next_ring_has_a_good_link(
    start: Start,
    twilio: Twilio,
    account: dict[str, str],
    browser: httpx2.Client,
    agent_of: Callable[[dict[str, Any]], Agent],
) -> None:
    laptop = start("--json", **account, HANDOFF_ROUNDS="5", HANDOFF_RING_SECONDS="5")
    line, before = laptop.line(), laptop.public_url()
    pids = laptop.pids()
    pages: list[str] = []
    early = agent_of(line).clear_wall("It waits all the time", notify="none", on_page=pages.append)
    until(lambda: pages, PATIENCE_S, "the first agent to wait")

    os.kill(pids["tunnel"], signal.SIGKILL)
    until(lambda: "now." in laptop.complaints(), PATIENCE_S, "another address")

    after = laptop.public_url()
    assert after != before
    assert f"{before} with it" in laptop.complaints()
    assert laptop.pids()["redis"] == pids["redis"]
    assert all(laptop.pids()[name] != pids[name] for name in ("web", "worker", "callbacks", "clock"))
    waiting = agent_of(line).clear_wall("A checkbox is blocking checkout")
    ada = twilio.phone.device(ADA)
    call, text = ada.let_ring(), ada.expect_text()
    assert text.links[0].startswith(f"{after}/h/")
    assert browser.get(text.links[0]).status_code == 200
    call.answer().hears("checkbox").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"

    assert pages[0].startswith(before) and not early.done()
    first = pages[0].rpartition("/")[2]
    resolved = httpx2.post(
        f"{line['url']}/v1/handoffs/{first}/resolution",
        json={},
        headers={"Authorization": f"Bearer {line['operator_key']}"},
        trust_env=False,
    )
    assert resolved.status_code == 200, resolved.text
    assert early.result(WOKEN_S)
    laptop.close()
    until(lambda: not laptop.left_running(), PATIENCE_S, "all of it to end")


@pytest.mark.slow
def test_without_cloudflared_ngrok_is_taken_and_a_person_is_told_where_everything_is(
    start: Start, account: dict[str, str], browser: httpx2.Client
) -> None:
    laptop = start(installed=("ngrok",), **account)
    until(lambda: "Try it" in laptop.said(), PATIENCE_S, "the welcome")
    address = laptop.public_url()
    assert address.endswith(".ngrok-free.app")
    assert address in laptop.said()
    assert "rings real phones" in laptop.said()
    assert "dev phone" not in laptop.said().partition("Starting")[2]
    assert browser.get(f"{address}/healthz").json() == {"status": "ok"}


@pytest.mark.slow
def test_settings_may_stand_in_a_file_and_the_environment_outranks_it(
    start: Start, account: dict[str, str], tmp_path: Path
) -> None:
    lines = [f"export {name}='{text}'  # as in .env.example" for name, text in account.items()]
    wrong = "TWILIO_FROM_NUMBER=not-a-number"
    (tmp_path / ".env").write_text("\n".join([*lines, wrong, "HANDOFF_PUBLIC_URL=https://other.example"]))
    laptop = start("--json", TWILIO_FROM_NUMBER=OURS)
    laptop.line()
    assert laptop.public_url().endswith(".trycloudflare.com")


def test_what_is_missing_is_named_at_once_and_nothing_starts(start: Start) -> None:
    laptop = start("--json", TWILIO_ACCOUNT_SID="AC" + "0" * 32, TWILIO_AUTH_TOKEN=TOKEN)
    assert laptop.ends() == 1
    assert "TWILIO_FROM_NUMBER and HANDOFF_TO_NUMBER must be set" in laptop.complaints()
    assert ".env" in laptop.complaints()
    assert laptop.said() == ""
    assert not laptop.data.exists()


def test_a_setting_that_can_not_work_is_named_and_nothing_starts(
    start: Start, account: dict[str, str]
) -> None:
    laptop = start("--json", **{**account, "HANDOFF_TO_NUMBER": "Ada=555"})
    assert laptop.ends() == 1
    assert "HANDOFF_TO_NUMBER: " in laptop.complaints()
    assert not (laptop.data / "pids.json").exists()


def test_without_a_tunnel_program_both_are_named_with_where_to_get_them(
    start: Start, account: dict[str, str]
) -> None:
    laptop = start("--json", installed=(), **account)
    assert laptop.ends() == 1
    assert "cloudflared  https://developers.cloudflare.com/" in laptop.complaints()
    assert "ngrok        https://ngrok.com/download" in laptop.complaints()
    assert not laptop.data.exists()


def test_an_account_that_twilio_does_not_know_is_told_before_anybody_is_to_be_rung(
    start: Start, account: dict[str, str]
) -> None:
    laptop = start("--json", **{**account, "TWILIO_AUTH_TOKEN": "f" * 32})
    laptop.line()
    assert "!!  Twilio: Twilio error 20003: the account SID or the auth token is wrong" in laptop.complaints()


def test_a_tunnel_that_can_not_be_had_ends_the_run_with_its_own_words(
    start: Start, account: dict[str, str]
) -> None:
    laptop = start(**account, STAND_IN="refused")
    assert laptop.ends() == 1
    assert "cloudflared ended, and Twilio can't reach this machine without it" in laptop.complaints()
    assert "failed to request quick Tunnel" in laptop.complaints()
    assert not laptop.left_running()


@pytest.mark.parametrize(
    "name, value", [("HANDOFF_OPEN_CONSOLE", "1"), ("TWILIO_API_URL", "http://127.0.0.1:9")]
)
def test_nothing_that_is_let_off_on_loopback_is_let_off_in_the_open(
    start: Start, account: dict[str, str], name: str, value: str
) -> None:
    laptop = start("--json", **{**account, name: value, "HANDOFF_DEV": "1"})
    assert laptop.ends() == 1
    assert name in laptop.complaints()


def test_a_dev_phone_port_makes_no_sense_with_real_calls(start: Start, account: dict[str, str]) -> None:
    laptop = start("--devphone-port", "8020", **account)
    assert laptop.ends() == 2
    assert "there is no dev phone" in laptop.complaints()
