"""Log lines: one JSON object each, the handoff's id in it, and no secret and no full number in any."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handoff.logs import discreet

ROOT = Path(__file__).parents[2]


def lines(code: str, log_format: str = "json") -> list[str]:
    """What a process prints that sets logging up and runs `code`. Logging belongs to a whole process."""
    program = (
        "import logging, structlog\n"
        "from handoff import logs\n"
        f"logs.configure({log_format!r})\n"
        "log = structlog.get_logger('handoff.test')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert not ran.stdout
    return ran.stderr.splitlines()


def objects(code: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(code)]


def test_a_line_is_an_object_with_time_level_and_what_was_bound() -> None:
    (line,) = objects(
        "structlog.contextvars.bind_contextvars(handoff='ho_1')\nlog.info('call_placed', number='…0123')"
    )
    assert (line["event"], line["handoff"], line["number"], line["level"]) == (
        "call_placed",
        "ho_1",
        "…0123",
        "info",
    )
    assert line["timestamp"].endswith("Z") and line["logger"] == "handoff.test"


SECRETS = {
    "a number": "+12125550123",
    "a number in an address": "%2B12125550123",
    "an API key": "hk_" + "a1B2" * 10,
    "a signing secret": "whsec_bm90IGEgc2VjcmV0",
    "a bearer token": "Bearer sesame-open",
    "a person's link": "/h/0123456789abcdefABCDEF",
}

LEAKS = {
    "as the event": "log.info({secret!r})",
    "inside the event": "log.info('before ' + {secret!r} + ' after')",
    "as a value": "log.info('x', what={secret!r})",
    "in a list": "log.info('x', what=[1, ({secret!r},)])",
    "in a dictionary": "log.info('x', what={{'a': {{'b': {secret!r}}}}})",
    "as a dictionary's name": "log.info('x', what={{{secret!r}: 1}})",
    "as bytes": "log.info('x', what={secret!r}.encode())",
    "in an error that was passed": "log.info('x', why=ValueError({secret!r}))",
    "in an object": "import types\nlog.info('x', what=types.SimpleNamespace(a={secret!r}))",
    "in an exception's text": "try:\n  raise OSError({secret!r})\nexcept OSError:\n  log.exception('x')",
    "from a library": "logging.getLogger('gunicorn.error').error('said %s', {secret!r})",
    "from a library's exception": (
        "try:\n  raise ValueError({secret!r})\nexcept ValueError:\n  logging.getLogger('x').exception('y')"
    ),
    "bound to the context": "structlog.contextvars.bind_contextvars(a={secret!r})\nlog.info('x')",
}


@pytest.mark.parametrize("how", LEAKS)
def test_no_secret_and_no_full_number_reaches_a_line(how: str) -> None:
    for log_format in ("json", "console"):
        code = "".join(LEAKS[how].format(secret=secret) + "\n" for secret in SECRETS.values())
        printed = "\n".join(lines(code, log_format))
        assert printed.count("\n") >= len(SECRETS) - 1
        for what, secret in SECRETS.items():
            hidden = secret.removeprefix("Bearer ").removeprefix("/h/")
            assert hidden not in printed, f"{what} in {log_format}"


@pytest.mark.parametrize("name", ["authorization", "auth_token", "resume_token", "answer", "password", "Key"])
def test_a_value_with_a_telling_name_is_hidden_whatever_it_is(name: str) -> None:
    first, nested = objects(f"log.info('x', {name}='4711')\nlog.info('x', outer={{'{name}': ['4711']}})")
    assert first[name] == "[hidden]"
    assert "4711" not in json.dumps(nested)


def test_ids_times_and_short_numbers_stay_readable() -> None:
    text = "ho_0123456789abcdefABCDEF rang after 25 s, error 21211, +1 more, at 2026-11-30T03:02:01.500Z"
    assert discreet(text) == text


def test_a_hidden_number_keeps_its_last_four_digits() -> None:
    assert discreet("to +12125550123.") == "to …0123."


def test_configuring_twice_does_not_double_the_lines() -> None:
    assert len(lines("logs.configure('json')\nlog.info('once')")) == 1


def test_chatty_libraries_are_heard_only_when_something_is_wrong() -> None:
    code = "logging.getLogger('twilio.http_client').info('POST with everything')\nlog.info('ours')"
    assert [line["event"] for line in objects(code)] == ["ours"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_what_a_stranger_sent_can_not_drive_the_terminal_that_shows_the_log(log_format: str) -> None:
    code = 'log.info("refused", why="a\\x1b]0;x\\x07b\\nforged \\u202ec\\x9b1m")'
    (line,) = lines(code, log_format)
    assert line.isprintable() and "forged" in line


def test_a_traceback_keeps_its_lines() -> None:
    found = lines("try:\n  1 / 0\nexcept ZeroDivisionError:\n  log.exception('broken')", "console")
    assert len(found) > 3
