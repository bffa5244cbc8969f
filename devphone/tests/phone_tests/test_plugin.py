"""The pytest plugin as another project meets it: a run of pytest of its own, in a folder of its own.

The application and its test are the example in the README.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .documentation import README, code_block

REMINDER = code_block(README, "# reminder.py")
STORY = code_block(README, "# test_reminder.py")
FORGETFUL = """

def test_nobody_picks_up(devphone, devphone_client):
    devphone_client.calls.create(to="+12125550123", from_="+12125550100", twiml="<Response/>")


def test_nothing_is_left_of_the_call_before(devphone):
    assert devphone.state()["calls"] == []


def test_what_is_wrong_with_a_test_is_told_before_what_was_left_on_the_phone(devphone, devphone_client):
    devphone_client.messages.create(to="+12125550123", from_="+12125550100", body="Hello")
    assert 1 + 1 == 3


def test_keys_that_the_application_does_not_expect(devphone, devphone_client, devphone_serve):
    url = devphone_serve(app) + "/reminder"
    devphone_client.calls.create(to="+12125550123", from_="+12125550100", url=url)
    call = devphone.device("+12125550123").expect_call("press 1").press("2").hears("we will call")
    call.hears("see you", timeout_s=0.2)
"""


def run(folder: Path, story: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Pytest in `folder` with the reminder and one file of tests."""
    (folder / "reminder.py").write_text(REMINDER)
    (folder / "test_reminder.py").write_text(story)
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=50)


def with_settings(folder: Path, *lines: str) -> None:
    """A configuration file of the other project."""
    (folder / "pytest.ini").write_text("\n".join(["[pytest]", "pythonpath = .", *lines]))


def test_an_appointment_reminder_is_tested_in_ten_lines(tmp_path: Path) -> None:
    with_settings(tmp_path)
    assert len(STORY.strip().splitlines()) <= 12
    ran = run(tmp_path, STORY, "--strict-config")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout


def test_what_nobody_expected_fails_the_test_and_is_gone_before_the_next(tmp_path: Path) -> None:
    with_settings(tmp_path)
    ran = run(tmp_path, STORY + FORGETFUL, "-k", "not patient")
    assert "3 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "nobody expected:\n  call to …0123, ringing" in ran.stdout
    assert "assert (1 + 1) == 3" in ran.stdout
    assert "text to" not in ran.stdout
    assert "the voice did not say 'see you'" in ran.stdout
    assert "We will call you back." in ran.stdout


def test_the_settings_come_from_the_other_projects_file(tmp_path: Path) -> None:
    with_settings(
        tmp_path,
        "devphone_account_sid = AC" + "9" * 32,
        "devphone_auth_token = of the clinic",
        "devphone_numbers = +12125550101 +12125550102",
        "devphone_clock = real",
        "devphone_calls_per_second = 0.5",
    )
    ran = run(
        tmp_path,
        """
def test_settings(devphone, devphone_client):
    state = devphone.state()
    assert state["account_sid"] == devphone_client.account_sid == "AC" + "9" * 32
    assert devphone_client.password == "of the clinic"
    assert state["numbers"] == ["+12125550101", "+12125550102"]
    assert state["clock"] == "real"
    assert devphone.account()["calls_per_second"] == 0.5
""",
    )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("devphone_clock = fast", "devphone_clock must be manual or real, not 'fast'"),
        ("devphone_calls_per_second = many", "devphone_calls_per_second must be a number, not 'many'"),
        ("devphone_auth_token = " + "0123456789abcdef" * 2, "the auth token has 32 hexadecimal digits"),
    ],
)
def test_settings_that_can_not_work_are_named(tmp_path: Path, line: str, says: str) -> None:
    with_settings(tmp_path, line)
    ran = run(tmp_path, "def test_anything(devphone):\n    pass\n")
    assert "1 error" in ran.stdout, ran.stdout + ran.stderr
    assert says in ran.stdout


def test_a_run_that_does_not_use_it_loads_nothing_of_it(tmp_path: Path) -> None:
    with_settings(tmp_path)
    ran = run(
        tmp_path,
        """
import sys

def test_nothing_is_loaded(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("devphone")
    loaded = {name for name in sys.modules if name.split(".")[0] in ("devphone", "flask", "twilio", "httpx2")}
    assert loaded == {"devphone", "devphone.pytest_plugin"}
""",
    )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
