"""The program itself: what it refuses, how it ends, whom it answers, and the clock that runs by itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import httpx2
import pytest

from devphone import testing
from devphone.settings import BadSettings, Settings, check
from devphone.testing import DevPhone

from .conftest import ACCOUNT, ADA, OURS, TOKEN, client_for
from .stub_application import Application

PROGRAM = [sys.executable, "-m", "devphone", "--account-sid", ACCOUNT, "--auth-token", TOKEN]
REAL = "0123456789abcdef" * 2
"""The form of Twilio's own auth tokens."""


def settings(
    environ: dict[str, str],
    host: str = "127.0.0.1",
    sid: str = ACCOUNT,
    token: str = TOKEN,
    port: str = "0",
) -> Settings:
    """Settings as the program would read them."""
    return check(environ, account_sid=sid, auth_token=token, numbers=[], host=host, port=port)


def started(*options: str) -> subprocess.CompletedProcess[str]:
    """The program, which was to end by itself."""
    return subprocess.run(
        [*PROGRAM, "--json", *options], capture_output=True, text=True, check=False, timeout=20
    )


@pytest.mark.parametrize("name", ["TWILIO_EDGE", "TWILIO_REGION"])
def test_it_refuses_to_start_where_twilios_library_would_not_reach_it(name: str) -> None:
    with pytest.raises(BadSettings, match=name):
        settings({name: "dublin"})


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::"])
def test_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(BadSettings, match="loopback"):
        settings({}, host=host)


@pytest.mark.parametrize("sid", ["", "AC123", "SK" + "0" * 32])
def test_an_account_sid_of_the_wrong_shape_is_refused(sid: str) -> None:
    with pytest.raises(BadSettings, match="account sid"):
        settings({}, sid=sid)


@pytest.mark.parametrize("token", [REAL, REAL.upper(), f" {REAL}\n"])
def test_a_token_that_looks_real_is_refused_with_advice(token: str) -> None:
    with pytest.raises(BadSettings, match="32 hexadecimal digits.*Make up another"):
        settings({}, token=token)
    with pytest.raises(BadSettings, match="32 hexadecimal digits"):
        check(
            {"DEVPHONE_AUTH_TOKEN": token},
            account_sid=ACCOUNT,
            auth_token=None,
            numbers=[],
            host="::1",
            port="0",
        )


def test_a_token_taken_from_the_real_account_next_door_is_named() -> None:
    with pytest.raises(BadSettings, match="is TWILIO_AUTH_TOKEN here"):
        settings({"TWILIO_ACCOUNT_SID": ACCOUNT, "TWILIO_AUTH_TOKEN": REAL}, token=REAL)


@pytest.mark.parametrize("token", [f"simulated-{REAL}", REAL[1:], f"{REAL}0", "g" * 32])
def test_a_token_made_up_is_taken(token: str) -> None:
    assert settings({}, token=token).auth_token == token


def test_values_come_from_the_environment_too() -> None:
    environ = {"DEVPHONE_ACCOUNT_SID": ACCOUNT, "DEVPHONE_AUTH_TOKEN": "from outside"}
    found = check(environ, account_sid=None, auth_token=None, numbers=[], host="::1", port="0")
    assert (found.account_sid, found.auth_token, found.numbers) == (
        ACCOUNT,
        "from outside",
        ("+12125550100",),
    )


def test_what_it_says_first_has_the_word_simulated() -> None:
    environ = os.environ | {"DEVPHONE_ACCOUNT_SID": ACCOUNT, "DEVPHONE_AUTH_TOKEN": TOKEN}
    for option, word in (("--clock=real", "SIMULATED"), ("--json", '"simulated": true')):
        command = [sys.executable, "-m", "devphone", option]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
            assert process.stdout is not None
            assert word in process.stdout.readline()
            process.terminate()


def test_a_refusal_is_one_line_and_exit_code_2() -> None:
    ended = subprocess.run(
        [*PROGRAM, "--host", "0.0.0.0"], capture_output=True, text=True, check=False, timeout=20
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--port=99999", "port must be a number from 0"),
        ("--port=-1", "port must be a number from 0"),
        ("--port=soon", "port must be a number from 0"),
        ("--port=" + "9" * 5000, "port must be a number from 0"),
        ("--clock=broken", "invalid choice"),
        ("--colour=red", "unrecognized arguments"),
    ],
    ids=["too great", "negative", "no number", "5000 digits", "clock", "option"],
)
def test_what_makes_no_sense_on_the_command_line_is_refused(option: str, why: str) -> None:
    ended = started(option)
    assert ended.returncode == 2
    assert why in json.loads(ended.stdout)["refused"]
    assert "Traceback" not in ended.stderr


def test_a_port_that_somebody_else_has_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = started(f"--port={port}")
    assert (ended.returncode, ended.stdout.count("\n")) == (2, 1)
    assert f"can't listen on port {port}" in json.loads(ended.stdout)["refused"]


def test_it_listens_on_the_ipv6_loopback_too() -> None:
    command = [*PROGRAM, "--json", "--host", "[::1]"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert url.startswith("http://[::1]:")
        assert httpx2.get(f"{url}/_devphone/state").json()["simulated"]
        process.terminate()


def test_a_phone_that_a_test_run_started_ends_when_the_run_is_killed() -> None:
    script = (
        "from devphone import testing\n"
        f"with testing.start({ACCOUNT!r}, {TOKEN!r}) as phone:\n"
        "    print(phone.url, flush=True)\n"
        "    input()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        url = run.stdout.readline().strip()
        with httpx2.stream("GET", f"{url}/_devphone/events", timeout=5) as events:
            lines = events.iter_lines()
            next(lines)
            run.kill()
            with pytest.raises(httpx2.RemoteProtocolError):
                list(lines)


def test_a_test_run_is_told_why_it_does_not_start() -> None:
    with (
        pytest.raises(RuntimeError, match="does not start: the auth token has 32"),
        testing.start(ACCOUNT, REAL),
    ):
        raise AssertionError("it started")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_even_while_somebody_listens(number: signal.Signals) -> None:
    environ = os.environ | {"DEVPHONE_ACCOUNT_SID": ACCOUNT, "DEVPHONE_AUTH_TOKEN": TOKEN}
    command = [sys.executable, "-m", "devphone", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        with httpx2.stream("GET", f"{url}/_devphone/events") as events:
            assert events.headers["content-type"].startswith("text/event-stream")
            begun = time.monotonic()
            process.send_signal(number)
            assert process.wait(5) == 0
            assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    "headers", [{"Host": "phone.example.org"}, {"Origin": "https://example.org"}, {"Origin": "null"}]
)
def test_other_web_pages_can_not_use_the_phone(phone: DevPhone, headers: dict[str, str]) -> None:
    refused = httpx2.post(f"{phone.url}/_devphone/reset", headers=headers)
    assert refused.status_code == 403


def test_with_a_real_clock_a_call_times_out_by_itself(application: Application) -> None:
    with testing.start(ACCOUNT, TOKEN, clock="real", numbers=[OURS], timeout_s=5) as phone:
        status = f"{application.url}/status"
        client_for(phone).calls.create(
            to=ADA, from_=OURS, twiml="<Response/>", timeout=1, status_callback=status
        )
        begun = time.monotonic()
        phone.device(ADA).let_ring().ended("no-answer")
        assert 0.5 < time.monotonic() - begun < 3
        with pytest.raises(AssertionError, match="clock is real"):
            phone.advance(1)
        phone.nothing_else_happened()


def test_the_page_loads_nothing_from_elsewhere_and_runs_no_inline_script(phone: DevPhone) -> None:
    page = httpx2.get(phone.url)
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert "SIMULATED" in page.text
    assert "http" not in page.text.replace("http-equiv", "")
    for piece in page.text.split("<script")[1:]:
        assert ' src="/static/' in piece.split(">")[0]
        assert piece.split(">", 1)[1].startswith("</script>")
    assert " style=" not in page.text
    assert " onclick" not in page.text


def test_a_page_that_outlived_the_program_sees_all_happenings_of_the_new_one(phone: DevPhone) -> None:
    headers = {"Last-Event-ID": "99999999"}
    phone.expect(client_for(phone).messages.create(to=ADA, from_=OURS, body="Hello").sid)
    phone.settle()
    with httpx2.stream("GET", f"{phone.url}/_devphone/events", headers=headers, timeout=5) as events:
        assert any("message.received" in line for line in events.iter_lines())


def test_happenings_are_streamed_with_numbers_and_milliseconds(phone: DevPhone) -> None:
    with httpx2.stream("GET", f"{phone.url}/_devphone/events") as events:
        lines = events.iter_lines()
        next(lines)
        client_for(phone).messages.create(to=ADA, from_=OURS, body="Hello")
        seen = next(line for line in lines if "message.received" in line)
    assert '"at_ms": ' in seen
    phone.device(ADA).expect_text("Hello")
